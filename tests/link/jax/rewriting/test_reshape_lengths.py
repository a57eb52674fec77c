import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax.rewriting.known_lengths import KnownLength
from pytensor.link.onnx import export_onnx
from pytensor.tensor.subtensor import IncSubtensor
from tests.link.jax.programs import nodes_of
from tests.utils import compare_jax_and_py

jax = pytest.importorskip("jax")
onnxruntime = pytest.importorskip("onnxruntime")

from pytensor.link.jax import jax_mode  # noqa: E402

X, N, Y = pt.tensor("x", shape=(None, 6)), pt.lscalar("n"), pt.vector("y")
# A shape, what it is computed from with a value that fits 12 elements, and one that doesn't.
SHAPES = {
    "scalar": ((N, 4), N, 3, 2),
    "one axis": ((N,), N, 12, 11),
    "arithmetic": ((N * 2, 3), N, 2, 3),
    "the rest": ((N * 2, -1), N, 3, 5),
    "two lengths": ((N, N + 1), N, 3, 2),
    "length of another": ((Y.shape[0], 4), Y, np.zeros(3), np.zeros(2)),
    "twice that": ((Y.shape[0] * 2, 2), Y, np.zeros(3), np.zeros(2)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_wrong_length_raises(name):
    shape, variable, right, wrong = SHAPES[name]
    out = pt.reshape(X, shape)
    outputs = [out * 2, pytensor.grad((out**2).sum(), X)]
    f = pytensor.function([X, variable], outputs, mode=jax_mode())
    value = np.arange(12.0).reshape(2, 6)
    reshaped, gradient = f(value, right)
    assert reshaped.size == 12
    np.testing.assert_array_equal(gradient, 2 * value)
    with pytest.raises((ValueError, TypeError)):
        f(value, wrong)


@pytest.mark.by_default("True")
@pytest.mark.parametrize("vector", [False, True])
def test_a_length_that_more_than_shapes_read_is_checked(vector):
    lengths, n = pt.lvector("lengths"), pt.lscalar("n")
    given, first = (lengths, lengths[0]) if vector else (n, n)
    f = pytensor.function([X, given], pt.reshape(X, (first, 4)) * given.sum(), mode=jax_mode())
    value = np.ones((2, 6))
    np.testing.assert_array_equal(f(value, [3] if vector else 3), np.full((3, 4), 3))
    with pytest.raises((ValueError, TypeError), match="reshape"):
        f(value, [5] if vector else 5)


def test_lengths_of_small_integers():
    n = pt.scalar("n", dtype="int8")
    with pytensor.config.change_flags(on_opt_error="raise"):
        f = pytensor.function([X, n], pt.reshape(X, (n, -1)), mode=jax_mode())
    assert f(np.ones((2, 6)), np.int8(3)).shape == (3, 4)


def test_export_of_a_function_compiled_for_jax():
    f = pytensor.function([X, N], pt.reshape(X, (N * 2, 3)), mode=jax_mode())
    model = export_onnx(f)
    value = np.arange(12.0).reshape(2, 6)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (result,) = session.run(None, {"x": value, "n": np.array(2)})
    np.testing.assert_array_equal(result, value.reshape(4, 3))


@pytest.mark.slow
def test_export_of_a_length_that_was_rounded():
    x = pt.tensor("x", shape=(None, None))
    y = pt.resize(x, scale=(0.6, 1.7))
    f = pytensor.function([x], y.sum() * pt.ones(y.shape), mode="JAX")
    assert nodes_of(f, KnownLength)
    value = np.arange(35.0).reshape(7, 5)
    session = onnxruntime.InferenceSession(export_onnx(f).SerializeToString())
    (result,) = session.run(None, {"x": value})
    np.testing.assert_allclose(result, f(value), rtol=1e-5)
    assert result.shape == (4, 8)


def test_reshapes_by_own_lengths():
    x = pt.tensor("x", shape=(None, None))
    outputs = [x.reshape((x.shape[1], x.shape[0])), x.reshape((x.shape[0] * 2, 3))]
    for rows in (2, 0):
        compare_jax_and_py([x], outputs, [np.ones((rows, 6))], jax_mode=jax_mode())


@pytest.mark.slow
def test_gradient_through_split_and_reshape_with_symbolic_batch():
    """What JAX couldn't trace: the shape of a split half, asked for by a reshape's gradient."""
    x = pt.tensor("x", shape=(None, 4, 2, 3))
    first, second = pt.split(pt.sqr(x), [2, 2], n_splits=2, axis=1)
    out = (second.reshape((-1, 2, 6)).sum(axis=1) * first.reshape((-1, 2, 6))[:, 0]).sum()
    value = np.random.default_rng(0).normal(size=(5, 4, 2, 3))
    outputs = [out, pytensor.grad(out, x)]
    compare_jax_and_py([x], outputs, [value], jax_mode=jax_mode())


def test_mode_jax_keeps_lengths_known_beside_our_ops_alone():
    """Graphs of people who use nothing of ours stay as PyTensor makes them."""
    image = pt.tensor("image", shape=(None, 1, 4, 4), dtype="float64")
    length = pt.maximum(image.shape[0], 3)
    written = pt.stack([image.shape[0], image.shape[2]])[::1]
    written = pt.set_subtensor(written[0], length)
    for out, beside in ((image * 2, False), (pt.nn.max_pool2d(image, 2), True)):
        f = pytensor.function([image], [out, length, written], mode="JAX")
        assert bool(nodes_of(f, KnownLength)) == beside
        assert bool(nodes_of(f, IncSubtensor)) != beside
