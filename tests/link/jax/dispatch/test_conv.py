import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.conv import conv_transpose
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")


@pytest.mark.parametrize(
    ("convolve", "border", "message"),
    [
        (pt.conv2d, 0, "larger than the padded image"),
        (conv_transpose, 2, "takes away all of the output along spatial axis 0"),
    ],
)
def test_bad_shapes_at_run_time(convolve, border, message):
    inputs = [pt.tensor4("x"), pt.tensor4("w")]
    f = pytensor.function(inputs, convolve(*inputs, border_mode=border), mode="JAX")
    with pytest.raises(ValueError, match="don't match an input of 3 channels"):
        f(np.ones((1, 3, 5, 5)), np.ones((2, 2, 3, 3)))
    with pytest.raises(ValueError, match=message):
        f(np.ones((1, 2, 2, 5)), np.ones((2, 2, 3, 3)))


def test_sum_of_a_transposed_convolution_of_no_images():
    inputs = [pt.tensor(dtype="float16", shape=(None,) * 4) for _ in range(2)]
    values = [np.ones(shape, "float16") for shape in [(0, 2, 4, 3), (2, 3, 2, 3)]]
    out = conv_transpose(*inputs, "half", (2, 1), output_padding=(1, 0))
    first = pytensor.grad(out.sum(dtype="float16"), inputs)
    second = pytensor.grad(sum(g.sum(dtype="float16") for g in first), inputs)
    compare_jax_and_py(inputs, [out, *first, *second], values)
