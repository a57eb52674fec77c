import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.pool import POOL_MODES, PoolWithIndices, pool_nd
from pytensor.tensor.pool.windows import STEPS
from tests.catalogue.operators import OPERATORS, POOLINGS
from tests.tensor.pool.test_pool import poolings
from tests.utils import compare_jax_and_py, in_turn

jax = pytest.importorskip("jax")

# window, ignore_border, stride, pad
CASES = [
    ((2, 3), True, None, (0, 0)),
    ((3, 5), False, (2, 3), (1, 2)),
    ((3, 2), True, (1, 2), (1, 0)),
    # a rest that no window covers, on both axes
    ((2, 2), True, (3, 5), (0, 1)),
    ((1, 2), False, (3, 4), (0, 1)),
]


def pairs():
    """Give each case two of the modes, each mode two or three cases; the others are long."""
    for place, case in enumerate(CASES):
        for turn, mode in enumerate(POOL_MODES):
            marks = [] if (turn - place) % 4 < 2 else [pytest.mark.long]
            yield pytest.param(mode, *case, marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "ws", "ignore_border", "stride", "pad"), list(pairs()))
def test_pool_2d(mode, ws, ignore_border, stride, pad):
    rng = np.random.default_rng(0)
    value = -1 - rng.permutation(2 * 7 * 8).reshape(1, 2, 7, 8).astype("float64")
    x = pt.tensor4("x")
    out = pt.pool_2d(x, ws, ignore_border, stride, pad, mode)
    # The gradient of a plain sum is an array of ones, whose shape JAX has to know
    gradients = [pytensor.grad(cost, x) for cost in ((out**2).sum(), out.sum())]
    compare_jax_and_py([x], [out, *gradients], [value])


@pytest.mark.slow
@in_turn("name, static", POOLINGS, [True, False])
def test_gradients(name, static):
    known, order = ("all", 1) if static else ("nothing", 2)
    compare_jax_and_py(*OPERATORS[name].graph(known=known, order=order))


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


@pytest.mark.slow
@pytest.mark.parametrize("mode", POOL_MODES)
def test_static_shape_and_second_order(mode):
    value = np.random.default_rng(1).normal(size=(2, 1, 7, 6))
    x = pt.tensor4("x", shape=value.shape)
    out = pt.pool_2d(x, (3, 2), False, (2, 3), (1, 1), mode)
    gradient = pytensor.grad((out**3).sum(), x)
    compare_jax_and_py([x], [gradient, pytensor.grad((gradient**2).sum(), x)], [value])


@pytest.mark.slow
def test_other_ranks():
    value = np.random.default_rng(2).normal(size=(2, 5, 4, 6))
    x = pt.tensor4("x")
    for mode in ("max", "average_exc_pad"):
        out = pool_nd(x, (2, 3, 1), False, (3, 1, 2), (1, 0, 0), mode)
        compare_jax_and_py([x], [out, pytensor.grad((out**2).sum(), x)], [value])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float16", "float32"])
def test_dtypes(dtype):
    x = pt.tensor4("x", dtype=dtype)
    value = np.random.default_rng(3).integers(0, 9, (1, 1, 4, 5)).astype(dtype)
    outputs = [pt.pool_2d(x, (2, 3), pad=1, stride=2, mode=mode) for mode in ("max", "sum")]
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


@pytest.mark.parametrize("fill", [0, -np.inf])
def test_what_jax_spreads_by_one_op_is_what_slices_are_set_to(fill):
    from pytensor.link.jax.dispatch.pool import JAXSteps

    x = pt.tensor("x", shape=(2, 3, 2), dtype="float32")
    arguments = {"axis": 1, "first": 2, "stride": 3, "number": 3, "length": 11, "fill": fill}
    outputs = [steps.spread(x, **arguments) for steps in (STEPS, JAXSteps())]
    assert len({out.type for out in outputs}) == 1
    value = np.arange(12, dtype="float32").reshape(2, 3, 2) + 0.5
    for mode in ("FAST_COMPILE", "JAX"):
        first, second = pytensor.function([x], outputs, mode=mode)(value)
        np.testing.assert_array_equal(first, second)
        assert np.count_nonzero(np.asarray(second) == fill) == 32


def test_adaptive_maxima_of_one_row():
    """Its length stays known from axis to axis: JAX couldn't compute the windows otherwise."""
    shape = (1, 2, 1, 2)
    x = pt.tensor("x", shape=shape)
    values, indices = pt.nn.adaptive_max_pool2d(x, (2, 4), return_indices=True)
    outputs = [values, indices, pytensor.grad((values**2).sum(), x)]
    value = np.arange(np.prod(shape), dtype=x.type.dtype).reshape(shape)
    compare_jax_and_py([x], outputs, [value])
