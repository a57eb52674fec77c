import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx
from tests.link.onnx.dispatch.scalar.test_basic import values
from tests.link.onnx.strategies import DTYPES
from tests.link.onnx.test_basic import compare_onnx_and_py

RNG = np.random.default_rng(1)
X = RNG.normal(size=(2, 3, 4))


def test_composite_of_a_fused_function():
    x, y = pt.fmatrices("x", "y")
    f = pytensor.function([x, y], pt.exp(x * 2) + pt.tanh(y) / 3, mode="FAST_RUN")
    export_onnx(f, verify=[X[0], X[1]])


@st.composite
def dimshuffles(draw):
    """Draw an array, and an order of its axes that aren't dropped, with new ones between."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3))
    droppable = [axis for axis, size in enumerate(shape) if size == 1]
    dropped = draw(st.sets(st.sampled_from(droppable))) if droppable else set()
    kept = [axis for axis in range(len(shape)) if axis not in dropped]
    order = draw(st.permutations(kept + ["x"] * draw(st.integers(0, 2))))
    return draw(hnp.arrays(dtype, shape, elements=values(dtype))), order


@given(call=dimshuffles(), opset=st.sampled_from([18, 24]))
def test_any_dimshuffle(call, opset):
    array, order = call
    x = pt.tensor("x", shape=[1 if n == 1 else None for n in array.shape], dtype=array.dtype)
    compare_onnx_and_py([x], x.dimshuffle(order), [array], rtol=0, atol=0, opset_version=opset)
