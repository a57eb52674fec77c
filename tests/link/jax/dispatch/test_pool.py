import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.pool import PoolWithIndices
from tests.tensor.pool.test_pool import poolings
from tests.utils import compare_jax_and_py

jax = pytest.importorskip("jax")


@pytest.mark.long
@settings(max_examples=4, deadline=None, derandomize=True)
@given(poolings(), st.sampled_from(["float16", "float32", "float64"]), st.data())
def test_all_attributes(pooling, dtype, data):
    op, shape = pooling
    special = [0, 1, 2, 3, -4, np.nan, np.inf, -np.inf] if op.mode == "max" else range(-4, 5)
    value = data.draw(hnp.arrays(dtype, shape, elements=st.sampled_from(special)))
    x = pt.tensor("x", shape=(None,) * len(shape), dtype=dtype)
    outputs = [op(x), pytensor.grad(op(x).sum(), x)]
    if op.mode == "max":
        outputs.append(PoolWithIndices(op=op)(x)[1])
    compare_jax_and_py([x], outputs, [value])


def test_window_larger_than_image_at_run_time():
    x = pt.tensor4("x")
    f = pytensor.function([x], pt.pool_2d(x, (3, 2), True), mode="JAX")
    with pytest.raises(ValueError, match="larger than the padded image"):
        f(np.ones((1, 1, 2, 5)))


@pytest.mark.parametrize("mode", ["max", "average_exc_pad"])
def test_no_cell_is_written_by_itself(mode):
    x = pt.tensor4("x", shape=(1, 2, 7, 8))
    out = pt.pool_2d(x, (3, 2), False, (2, 3), (1, 0), mode)
    f = pytensor.function([x], pytensor.grad((out**2).sum(), x), mode="JAX")
    program = str(jax.make_jaxpr(f.vm.jit_fn)(np.ones(x.type.shape)))
    assert "pad[" in program
    assert "scatter" not in program


def test_adaptive_maxima_of_one_row():
    """Its length stays known from axis to axis: JAX couldn't compute the windows otherwise."""
    shape = (1, 2, 1, 2)
    x = pt.tensor("x", shape=shape)
    values, indices = pt.nn.adaptive_max_pool2d(x, (2, 4), return_indices=True)
    outputs = [values, indices, pytensor.grad((values**2).sum(), x)]
    value = np.arange(np.prod(shape), dtype=x.type.dtype).reshape(shape)
    compare_jax_and_py([x], outputs, [value])
