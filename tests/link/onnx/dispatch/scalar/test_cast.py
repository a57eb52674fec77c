import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pytensor.tensor as pt
from tests.link.onnx.dispatch.scalar.test_basic import values
from tests.link.onnx.strategies import DTYPES, FLOATS, INTEGERS
from tests.link.onnx.test_basic import compare_onnx_and_py


@st.composite
def castable(draw):
    """Draw an array, and a dtype to which NumPy defines its cast."""
    dtype, to = draw(st.sampled_from(DTYPES)), draw(st.sampled_from(DTYPES))
    elements = values(dtype)
    if dtype in FLOATS and to in INTEGERS:
        # What doesn't fit is undefined in C, NumPy and ONNX alike.
        width, limits = np.finfo(dtype).bits, np.iinfo(to)
        largest = np.finfo(dtype).max
        low = max(np.array(limits.min, dtype), -largest)
        high = min(np.nextafter(np.array(limits.max, dtype), 0, dtype=dtype), largest)
        elements = st.floats(float(low), float(high), width=width)
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=5))
    return draw(hnp.arrays(dtype, shape, elements=elements)), to


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(call=castable(), opset=st.sampled_from([18, 24]))
def test_cast(call, opset):
    value, to = call
    x = pt.tensor("x", shape=(None,) * value.ndim, dtype=value.dtype)
    compare_onnx_and_py([x], pt.cast(x, to), [value], rtol=0, atol=0, opset_version=opset)


def test_double_to_half_is_rounded_once():
    x = pt.dvector("x")
    # Halfway between neighbours of float16, and next to that in float64 but not in float32
    halves = np.arange(0, 0x7C00, 97, dtype="uint16").view("float16")
    above = np.nextafter(halves, np.float16(np.inf))
    middle = (halves.astype("float64") + above.astype("float64")) / 2
    some = np.concatenate([middle, middle * (1 + 2.0**-40), middle * (1 - 2.0**-40), halves])
    some = np.append(some, [65519.999999, 65520, 65520.000001, 99999.9999, 1e300, np.inf, 0])
    some = np.concatenate([some, -some, [2.0**-26, -(2.0**-26), -1e-300, np.nan]])
    y = x.astype("float16")
    compare_onnx_and_py([x], [y, pt.arctan2(y, -1) > 0], [some], rtol=0, atol=0)
