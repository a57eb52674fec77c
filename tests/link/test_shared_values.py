import copy
from importlib.util import find_spec

import jax
import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.link.jax import jax_mode
from pytensor.link.numba.parts import NumbaPartsLinker

WRITERS = {
    "JAX": "JAX",
    "jax_mode": jax_mode(),
    "donated": jax_mode(donate=True),
} | ({"MLX": "MLX"} if find_spec("mlx") else {})
READERS = {
    "NUMBA": "NUMBA",
    "numba_parts": Mode(NumbaPartsLinker(), "fast_run"),
    "FAST_COMPILE": "FAST_COMPILE",
    "py": Mode("py", "fast_compile"),
    "FAST_RUN": Mode("vm", "fast_run"),
    "ONNX": "ONNX",
    **WRITERS,
}


def updated(value, mode, name=None):
    """Return a shared variable that a function of a mode has doubled."""
    shared = pytensor.shared(value, name=name)
    pytensor.function([], [], updates={shared: shared * 2}, mode=mode)()
    return shared


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("reader", READERS)
def test_what_jax_updated_is_read_and_updated(reader, writer):
    shared = updated(np.arange(3, dtype="float32"), WRITERS[writer])
    assert not isinstance(shared.get_value(borrow=True), np.ndarray)
    x = pt.fvector("x")
    f = pytensor.function(
        [x], x * shared + shared.sum(), updates={shared: shared + x}, mode=READERS[reader]
    )
    np.testing.assert_array_equal(f([1, 1, 1]), [6, 8, 10])
    np.testing.assert_array_equal(f([1, 1, 1]), [10, 12, 14])
    np.testing.assert_array_equal(shared.get_value(), [2, 4, 6])


def test_memory_is_not_read_as_a_numpy_array():
    """Pooling's compiled code took JAX's array for NumPy's, and ended the process."""
    images = updated(np.arange(16.0).reshape(1, 1, 4, 4), "JAX")
    f = pytensor.function([], pt.nn.max_pool2d(images, 2), mode="FAST_COMPILE")
    np.testing.assert_array_equal(f(), [[[[10, 14], [26, 30]]]])


def test_values_have_the_dtype_of_the_variable():
    shared = pytensor.shared(np.zeros(2, "float32"))
    shared.container.storage[0] = jax.numpy.ones(2, "float64")  # as mode JAX may leave it
    np.testing.assert_array_equal(pytensor.function([], shared * 2, mode="NUMBA")(), [2, 2])
    assert shared.get_value().dtype == "float32"


def test_functions_of_jax_leave_arrays_on_the_device():
    shared = updated(np.arange(3.0), jax_mode())
    before = shared.get_value(borrow=True)
    pytensor.function([], shared.sum(), mode=jax_mode())()
    assert shared.get_value(borrow=True) is before


@pytest.mark.filterwarnings("ignore:Skipping Assert:UserWarning")
def test_mode_jax_leaves_the_dtype_of_the_variable():
    """The gradient of an indexed cross-entropy is float64 there, whatever its type says."""
    w = pytensor.shared(np.ones((2, 3), "float32"), name="w")
    x, y = pt.fmatrix("x"), pt.lvector("y")
    log_p = pt.special.log_softmax(x @ w, axis=1)
    loss = -log_p[pt.arange(y.shape[0]), y].mean()
    gradient = pytensor.grad(loss, w)
    step = pytensor.function([x, y], [], updates={w: w - gradient}, mode="JAX")
    for _ in range(2):
        step(np.ones((4, 2), "float32"), np.array([0, 1, 2, 0]))
        assert w.container.storage[0].dtype == w.type.dtype == gradient.type.dtype


@pytest.mark.parametrize("writer", ["JAX", "jax_mode"])
def test_what_jax_updated_is_copied_deeply(writer):
    shared = updated(np.arange(3.0), WRITERS[writer])
    step = pytensor.function([], shared * 2, updates={shared: shared + 1}, mode=WRITERS[writer])
    twin, other = copy.deepcopy((step, shared))
    for n in range(2):
        np.testing.assert_array_equal(twin(), 4 * np.arange(3) + 2 * n)
    np.testing.assert_array_equal(other.get_value(), 2 * np.arange(3) + 2)
    np.testing.assert_array_equal(shared.get_value(), 2 * np.arange(3))
