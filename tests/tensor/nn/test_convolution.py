import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import REFERENCE_MODE, compare_jax_and_py

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("kernel", [(3, 3), (2, 4)])
def test_same_padding_of_a_kernel_of_unknown_size(kernel):
    values = RNG.normal(size=(2, 3, 6, 7)), RNG.normal(size=(4, 3, *kernel))
    how = {"padding": "same", "dilation": (1, 3)}
    expected = pt.nn.conv2d(*map(pt.constant, values), **how)
    assert expected.type.shape == (2, 4, 6, 7)
    inputs = [pt.tensor4("x"), pt.tensor4("weight")]
    out = pt.nn.conv2d(*inputs, **how)
    result, *_ = compare_jax_and_py(inputs, [out, *pt.grad((out**2).sum(), inputs)], values)
    np.testing.assert_allclose(result, expected.eval(mode=REFERENCE_MODE), rtol=1e-12)


def test_bias_has_the_dtype_of_the_images():
    x, weight = pt.tensor4("x", dtype="float32"), pt.tensor4("weight", dtype="float32")
    for function in (pt.nn.conv2d, pt.nn.conv_transpose2d):
        assert function(x, weight, np.ones(3)).type.dtype == "float32"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, w: pt.nn.conv1d(x, w), "conv1d: x must have 3 axes, 1 of them spatial"),
        (lambda x, w: pt.nn.conv2d(x, w[0]), "conv2d: weight must have 4 axes"),
        (lambda x, w: pt.nn.conv2d(x, w, stride=0), "conv2d: stride must be an int or 2 ints"),
        (lambda x, w: pt.nn.conv2d(x, w, dilation=(1,)), "conv2d: dilation must be"),
        (lambda x, w: pt.nn.conv2d(x, w, groups=0), "conv2d: groups must be an int of at least 1"),
        (lambda x, w: pt.nn.conv2d(x, w, groups=2), "3 channels don't divide into 2 groups"),
        (lambda x, w: pt.nn.conv2d(x, w, padding="half"), "padding must be 'same', 'valid', an"),
        (lambda x, w: pt.nn.conv2d(x, w, padding="same", stride=2), "'same' needs stride=1"),
        (lambda x, w: pt.nn.conv2d(x, w, np.ones(3)), r"bias must have shape \(4,\)"),
        (lambda x, w: pt.nn.conv_transpose2d(x, w[:3], padding="same"), "padding must be an int"),
        (
            lambda x, w: pt.nn.conv_transpose2d(x, w[:3], output_size=5, output_padding=1),
            "conv_transpose2d: give output_padding or output_size, not both",
        ),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call(np.ones((2, 3, 6, 7)), np.ones((4, 3, 2, 2)))
    assert "\n" not in str(error.value)


def test_integers_are_refused():
    with pytest.raises(TypeError, match="conv2d: weight must be floating point, got int64"):
        pt.nn.conv2d(np.ones((1, 1, 2, 2)), np.ones((1, 1, 2, 2), "int64"))


def test_missing_arguments_are_named_after_the_function():
    with pytest.raises(TypeError, match=r"conv2d\(\) missing 1 required positional argument"):
        pt.nn.conv2d(pt.tensor4())
    with pytest.raises(TypeError, match=r"conv2d\(\) missing 1 required positional argument"):
        pt.conv2d(pt.tensor4())


def test_unknown_channels_are_checked_at_run_time():
    inputs = [pt.tensor4("x"), pt.tensor4("weight")]
    f = pytensor.function(inputs, pt.nn.conv2d(*inputs), mode=REFERENCE_MODE)
    with pytest.raises(ValueError, match="filters for 2 channels"):
        f(np.ones((1, 3, 4, 4)), np.ones((1, 2, 2, 2)))
