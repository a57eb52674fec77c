import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.graph.replace import vectorize_graph
from pytensor.tensor.blockwise import Blockwise
from tests.utils import REFERENCE_MODE, compare_jax_and_py

RNG = np.random.default_rng(0)


def test_same_padding_of_a_kernel_of_unknown_size():
    values = RNG.normal(size=(2, 3, 6, 7)), RNG.normal(size=(4, 3, 2, 4))
    how = {"padding": "same", "dilation": (1, 3)}
    expected = pt.nn.conv2d(*map(pt.constant, values), **how)
    assert expected.type.shape == (2, 4, 6, 7)
    inputs = [pt.tensor4("x"), pt.tensor4("weight")]
    out = pt.nn.conv2d(*inputs, **how)
    result, *_ = compare_jax_and_py(inputs, [out, *pt.grad((out**2).sum(), inputs)], values)
    np.testing.assert_allclose(result, expected.eval(mode=REFERENCE_MODE), rtol=1e-12)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("name", ["conv", "conv_transpose"])
def test_one_image_without_a_batch(name, n, known):
    function = getattr(pt.nn, f"{name}{n}d")
    x, bias = RNG.normal(size=(4, 5, 6, 7)[: n + 1]), RNG.normal(size=6)
    weight = RNG.normal(size=((6, 2) if name == "conv" else (4, 3)) + (3, 2, 1)[:n])
    how = {"stride": 2, "groups": 2}
    expected = function(x[None], weight, bias, **how)
    image = pt.tensor("x", shape=x.shape if known else (None,) * x.ndim)
    out = function(image, weight, bias, **how)
    assert out.type.shape == (expected.type.shape[1:] if known else (6, *[None] * n))
    f = pytensor.function([image], [out, pt.grad(out.sum(), image)], mode=REFERENCE_MODE)
    np.testing.assert_array_equal(f(x)[0], expected.eval(mode=REFERENCE_MODE)[0])
    assert f(x)[1].shape == x.shape


def test_a_batch_of_images_without_one_is_one_convolution():
    image, images = pt.tensor("x", shape=(3, 6, 7)), pt.tensor("x", shape=(5, 3, 6, 7))
    out = pt.nn.conv2d(image, RNG.normal(size=(4, 3, 2, 2)))
    batch = vectorize_graph(out, {image: images})
    assert batch.type.shape == (5, 4, 5, 6)
    ops = [node.op for node in pytensor.graph.FunctionGraph([images], [batch]).apply_nodes]
    assert [type(op).__name__ for op in ops].count("Conv") == 1
    assert not any(isinstance(op, Blockwise) for op in ops)


def test_bias_has_the_dtype_of_the_images():
    x, weight = pt.tensor4("x", dtype="float32"), pt.tensor4("weight", dtype="float32")
    for function in (pt.nn.conv2d, pt.nn.conv_transpose2d):
        assert function(x, weight, np.ones(3)).type.dtype == "float32"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, w: pt.nn.conv1d(x, w), "x must have 3 axes, 1 of them spatial, or 2 without a"),
        (lambda x, w: pt.nn.conv2d(x, w[0]), "conv2d: weight must have 4 axes, 2 of them"),
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
