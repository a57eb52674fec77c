import hypothesis.extra.numpy as hnp
import numpy as np
import onnx.numpy_helper
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.conv import conv_transpose
from pytensor.tensor.conv.ops import Conv, ConvGradFilters, ConvGradInput, ConvTranspose
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

RNG = np.random.default_rng(5)
X = RNG.normal(size=(2, 4, 9, 11)).astype("float32")


def weights(*shape, name="weight"):
    return pytensor.shared(RNG.normal(size=shape).astype("float32"), name=name)


def images():
    return pt.tensor("x", shape=(None, 4, None, None), dtype="float32")


def test_filters_used_twice():
    # Once mirrored and once not, and as an output of their own.
    x, w = images(), weights(4, 4, 3, 2)
    y = pt.conv2d(x, w, border_mode="half")
    z = pt.conv2d(y[:, :, :, :-1], w, border_mode="half", filter_flip=False)
    compare_onnx_and_py([x], [z, w * 1], [X], atol=1e-4)


def test_double_precision_is_not_narrowed():
    x = pt.tensor("x", shape=(None, 1, None), dtype="float64")
    y = Conv(border_mode="half", subsample=(1,), filter_dilation=(1,))(x, np.ones((1, 1, 3)))
    model = compare_onnx_and_py([x], y, [[[[2.0**53, 1.0, -(2.0**53)]]]], rtol=0)
    assert "Conv" not in op_types(model)


@st.composite
def convolutions(draw):
    """Draw an Op, and the shapes of its image and filters."""

    def each(low, high):
        return tuple(draw(st.integers(low, high)) for _ in range(n))

    n, groups = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    kernel, dilation = each(1, 3), each(1, 3)
    pairs = tuple(zip(each(0, 2), each(0, 2), strict=True))
    op = Conv(
        border_mode=draw(st.sampled_from([pairs, "half", "full"])),
        subsample=each(1, 3),
        filter_dilation=dilation,
        num_groups=groups,
        filter_flip=draw(st.booleans()),
    )
    spatial = [
        max((k - 1) * d + 1 - before - after, 0) + more
        for k, d, (before, after), more in zip(
            kernel, dilation, op.pads(kernel), each(0, 4), strict=True
        )
    ]
    channels, filters = draw(st.integers(0, 3)), groups * draw(st.integers(0, 2))
    image = (draw(st.integers(0, 3)), groups * channels, *spatial)
    return op, image, (filters, channels, *kernel)


def typed(draw, name, shape, dtype):
    """Draw a variable that fixes some of its sizes, and a value whose sums are exact."""
    # What is known to be empty is a case of its own, what only turns out so another
    static = [draw(st.sampled_from([length, None])) for length in shape]
    value = draw(hnp.arrays(dtype, shape, elements=st.integers(-4, 4)))
    return pt.tensor(name, shape=static, dtype=dtype), value


@pytest.mark.slow
@given(convolutions(), st.sampled_from(["float32", "float64"]), st.data())
def test_convolution_and_its_gradients(convolution, dtype, data):
    op, image_shape, filter_shape = convolution
    spatial = op.output_spatial_shape(image_shape[2:], filter_shape[2:])
    x, x_value = typed(data.draw, "x", image_shape, dtype)
    w, w_value = typed(data.draw, "w", filter_shape, dtype)
    g, g_value = typed(data.draw, "g", (image_shape[0], filter_shape[0], *spatial), dtype)
    compare_onnx_and_py(
        [x, w, g],
        [op(x, w), op.like(ConvGradInput)(x, w, g), op.like(ConvGradFilters)(x, w, g)],
        [x_value, w_value, g_value],
        rtol=0,
        atol=0,
    )


def test_gradients_of_known_shape_are_single_nodes():
    """Also where the stride leaves padding of the output."""
    x = pt.tensor("x", shape=(2, 4, 9, 11), dtype="float32")
    w = pt.tensor("w", shape=(6, 4, 3, 2), dtype="float32")
    g = pt.tensor("g", shape=(2, 6, 4, 4), dtype="float32")
    op = Conv(
        border_mode=((0, 1), (1, 0)), subsample=(2, 3), filter_dilation=(1, 1), filter_flip=False
    )
    values = [RNG.normal(size=v.type.shape) for v in (x, w, g)]
    model = compare_onnx_and_py([x, w, g], op.like(ConvGradInput)(x, w, g), values)
    assert op_types(model) == ["ConvTranspose"]


def test_bias_is_part_of_the_convolution():
    x, bias = images(), weights(6, name="bias")
    y = pt.conv2d(x, weights(6, 4, 3, 2)) + bias[:, None, None]
    model = compare_onnx_and_py([x], y, [X], atol=1e-4)
    assert op_types(model) == ["Conv"]
    assert [i.name for i in model.graph.initializer] == ["weight", "bias"]
    stored = onnx.numpy_helper.to_array(model.graph.initializer[1])
    np.testing.assert_array_equal(stored, bias.get_value())


def test_convolutions_are_one_node():
    """However their filters are mirrored, which are known."""
    x = images()
    for flip in (True, False):
        y = pt.conv2d(x, weights(8, 2, 2, 3), "full", (2, 1), num_groups=2, filter_flip=flip)
        assert op_types(compare_onnx_and_py([x], y, [X])) == ["Conv"]
    y = conv_transpose(x, weights(4, 3, 3, 2), "full", (3, 2), (2, 1), output_padding=(2, 1))
    assert op_types(compare_onnx_and_py([x], y, [X], atol=1e-4)) == ["ConvTranspose"]


def test_output_padding_beyond_the_stride():
    # ONNX allows it, ConvTranspose of PyTensor doesn't: zeros after the input
    x, w = images(), weights(4, 3, 3, 2)
    y = conv_transpose(x, w, ((0, 1), (1, 2)), (1, 2), (3, 5), output_padding=(2, 4))
    compare_onnx_and_py([x], y, [X], atol=1e-4)
    # number of channels unknown
    x, w = pt.tensor4("x", dtype="float32"), pt.tensor4("w", dtype="float32")
    y = conv_transpose(x, w, 1, 1, (1, 3), output_padding=(0, 2))
    compare_onnx_and_py([x, w], y, [X, RNG.normal(size=(4, 3, 3, 2))], atol=1e-4)


@st.composite
def transposed_convolutions(draw):
    """Draw an Op, the shapes of its input and filters, and of its output."""
    op, output, (filters, channels, *kernel) = draw(convolutions())
    properties = {name: getattr(op, name) for name in Conv.__props__}
    image = (output[0], filters, *op.output_spatial_shape(output[2:], kernel))
    more = tuple(draw(st.integers(0, s - 1)) for s in op.subsample)
    op = ConvTranspose(**properties, output_padding=more)
    output = op.output_shape(image, (filters, channels, *kernel))
    # what the convolution mapped to the least size may be padding alone
    image = tuple(
        n + max(0, 1 - length) if axis >= 2 else n
        for axis, (n, length) in enumerate(zip(image, output, strict=True))
    )
    return op, image, (filters, channels, *kernel)


@pytest.mark.slow
@given(transposed_convolutions(), st.sampled_from(["float32", "float64"]), st.data())
def test_random_transposed_convolutions(convolution, dtype, data):
    op, image_shape, filter_shape = convolution
    x, x_value = typed(data.draw, "x", image_shape, dtype)
    w, w_value = typed(data.draw, "w", filter_shape, dtype)
    compare_onnx_and_py([x, w], op(x, w), [x_value, w_value], rtol=0, atol=0)
