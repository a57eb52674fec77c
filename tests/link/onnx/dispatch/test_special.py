import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pytensor.tensor as pt
from tests.link.onnx.strategies import FLOATS
from tests.link.onnx.test_basic import compare_onnx_and_py

X = np.random.default_rng(3).normal(size=(2, 3, 4)) * 20
FUNCTIONS = {
    "softmax": pt.special.softmax,
    "log_softmax": pt.special.log_softmax,
    "logsumexp": pt.special.logsumexp,
}
INF, NAN = np.inf, np.nan


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", FLOATS)
def test_infinity_and_nan(dtype):
    x = pt.matrix("x", dtype=dtype)
    rows = [
        [-INF, -INF, -INF], [INF, 1, 2], [1, INF, INF], [NAN, 1, 2], [1, NAN, 2], [1, 2, NAN],
        [-INF, 0, 1], [NAN, INF, -INF], [6e4, -6e4, 0], [-0.0, 0, -0.0],
    ]  # fmt: skip
    outputs = [function(x, axis=axis) for function in FUNCTIONS.values() for axis in (1, None)]
    compare_onnx_and_py([x], outputs, [rows])
    compare_onnx_and_py([x], outputs, [rows[:1]])


def test_logsumexp_of_nothing():
    x = pt.fmatrix("x")
    compare_onnx_and_py([x], pt.special.logsumexp(x, axis=1), [np.zeros((2, 0))])


@st.composite
def cases(draw):
    dtype = draw(st.sampled_from(FLOATS))
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, max_side=4))
    axes = draw(st.none() | st.sets(st.integers(-len(shape), -1), min_size=1).map(tuple))
    reduced = range(-len(shape), 0) if axes is None else axes
    # There's no maximum of nothing.
    kept = [axis for axis in range(-len(shape), 0) if axis not in reduced]
    if kept and draw(st.booleans()):
        shape = list(shape)
        shape[draw(st.sampled_from(kept))] = 0
    width = np.dtype(dtype).itemsize * 8
    elements = st.floats(-1e4, 1e4, width=width) | st.sampled_from([INF, -INF, NAN, -0.0])
    return draw(hnp.arrays(dtype, tuple(shape), elements=elements)), axes


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(case=cases(), name=st.sampled_from(sorted(FUNCTIONS)))
def test_any_axes(case, name):
    values, axes = case
    x = pt.tensor("x", shape=(None,) * values.ndim, dtype=values.dtype)
    compare_onnx_and_py([x], FUNCTIONS[name](x, axis=axes), [values])
