import numpy as np
import onnx.numpy_helper
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from pytensor.tensor.conv.ops import Conv
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

RNG = np.random.default_rng(5)
X = RNG.normal(size=(2, 4, 9, 11)).astype("float32")


def weights(*shape, name="weight"):
    return pytensor.shared(RNG.normal(size=shape).astype("float32"), name=name)


def images():
    return pt.tensor("x", shape=(None, 4, None, None), dtype="float32")


@pytest.mark.parametrize("filter_flip", [True, False])
@pytest.mark.parametrize("run_time_filters", [True, False])
@pytest.mark.parametrize(
    ("border_mode", "subsample", "dilation", "groups", "kernel"),
    [
        ("valid", (1, 1), (1, 1), 1, (3, 2)),
        ("half", (1, 2), (1, 1), 1, (3, 4)),
        ("full", (2, 1), (1, 1), 2, (2, 3)),
        ((2, 1), (1, 1), (2, 3), 4, (2, 3)),
        (((0, 1), (2, 0)), (3, 2), (1, 2), 1, (3, 2)),
        ("half", (1, 1), (1, 1), 1, (1, 1)),
    ],
)
def test_conv2d(border_mode, subsample, dilation, groups, kernel, run_time_filters, filter_flip):
    x = images()
    shape = (6 if groups == 1 else 8, 4 // groups, *kernel)
    values = RNG.normal(size=shape)
    if run_time_filters:
        w = pt.tensor("w", shape=shape, dtype="float32")
        inputs, data = [x, w], [X, values]
    else:
        w = pytensor.shared(values.astype("float32"), name="w")
        inputs, data = [x], [X]
    y = pt.conv2d(x, w, border_mode=border_mode, subsample=subsample, filter_dilation=dilation,
                  num_groups=groups, filter_flip=filter_flip)  # fmt: skip
    model = compare_onnx_and_py(inputs, y, data)
    mirrored = filter_flip and run_time_filters and kernel != (1, 1)
    assert op_types(model) == (["Slice", "Conv"] if mirrored else ["Conv"])
    attributes = {a.name for a in model.graph.node[-1].attribute}
    assert attributes == {"dilations", "group", "kernel_shape", "pads", "strides"}


def test_filters_used_twice():
    # Once mirrored and once not, and as an output of their own.
    x, w = images(), weights(4, 4, 3, 2)
    y = pt.conv2d(x, w, border_mode="half")
    z = pt.conv2d(y[:, :, :, :-1], w, border_mode="half", filter_flip=False)
    compare_onnx_and_py([x], [z, w * 1], [X], atol=1e-4)


@pytest.mark.parametrize("n", [1, 3])
def test_other_dimensions(n):
    x = pt.tensor("x", shape=(None, 2, *[None] * n), dtype="float32")
    w = weights(3, 2, *range(2, 2 + n))
    pairs = tuple((i, 1) for i in range(n))
    op = Conv(border_mode=pairs, subsample=range(1, 1 + n), filter_dilation=(1,) * n)
    compare_onnx_and_py([x], op(x, w), [RNG.normal(size=(2, 2, *range(7, 7 + n)))], atol=1e-4)


def test_filters_of_unknown_shape():
    x, w = images(), pt.tensor4("w", dtype="float32")
    with pytest.raises(UnsupportedOpError, match="spatial shape"):
        export_onnx([x, w], pt.conv2d(x, w))


def test_double_precision_is_refused():
    x = pt.tensor("x", shape=(None, 4, None, None), dtype="float64")
    with pytest.raises(UnsupportedOpError, match="no Conv for float64"):
        export_onnx([x], pt.conv2d(x, np.ones((2, 4, 3, 3))))


def test_bias_is_part_of_the_convolution():
    x, bias = images(), weights(6, name="bias")
    y = pt.conv2d(x, weights(6, 4, 3, 2)) + bias[:, None, None]
    model = compare_onnx_and_py([x], y, [X], atol=1e-4)
    assert op_types(model) == ["Conv"]
    assert [i.name for i in model.graph.initializer] == ["weight", "bias"]
    stored = onnx.numpy_helper.to_array(model.graph.initializer[1])
    np.testing.assert_array_equal(stored, bias.get_value())
