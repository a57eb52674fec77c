"""Files as strangers write them: what onnxruntime opens is imported, or refused with its reason."""

import numpy as np
import pytest

from pytensor import function
from pytensor.link.onnx import (
    ImportedModelError,
    ImportedOpError,
    ImportedShapeWarning,
    from_onnx,
)
from tests.link.onnx.importing.small_files import (
    INT64,
    body,
    compare,
    info,
    model,
    node,
    ones,
    run,
)
from tests.link.onnx.importing.with_onnxruntime import PYTHON, in_onnxruntime

# ------------------------------------------------------------------------------ declared shapes


def test_wrong_shapes_of_results_are_listed():
    lie = model(
        [node("Relu", "x", "h"), node("Relu", "h")],
        [("x", [2])],
        [("y", [])],
        value_info=[info("h", [5])],
    )
    with pytest.warns(ImportedShapeWarning, match=r"'h': \(5,\) declared, \(2,\) found; 'y': \(\)"):
        imported = from_onnx(lie)
    assert imported.outputs["y"].type.shape == (2,)


def test_wrong_shapes_in_a_body_are_listed():
    step = body(
        [
            node("Identity", "a", "a2"),
            node("Sub", "a b", "d"),
            node("ReduceSumSquare", "d", "s", axes=[1], keepdims=0),
        ],
        [("a2", [3, 2]), ("s", [1])],
        [("a", [3, 2]), ("b", [2])],
    )
    scan = node("Scan", "x w", "u y", body=step, num_scan_inputs=1)
    lie = model(scan, [("x", [3, 2])], values={"w": np.eye(2, dtype="float32")})
    with pytest.warns(ImportedShapeWarning, match=r"'s': \(1,\) declared, \(3,\) found"):
        compare(lie, np.arange(6, dtype="float32").reshape(3, 2))


@pytest.mark.parametrize("size", [-1, 0])
def test_sizes_that_are_no_lengths_are_open(size):
    network = model(node("Relu", "x"), [("x", [size, 2])], [("y", [size, 2])])
    assert from_onnx(network).inputs["x"].type.shape == (None, 2)
    np.testing.assert_array_equal(run(network, ones(3, 2))[0], ones(3, 2))


def test_windows_beyond_the_padding_in_old_files():
    pool = node("MaxPool", "x", kernel_shape=[2, 2], pads=[1, 0] * 2, strides=[2, 2], ceil_mode=1)
    compare(model(pool, [("x", [1, 1, 3, 4])], opset=11), ones(1, 1, 3, 4))


# ------------------------------------------------------------------------------ older files


def test_initializers_of_ir_3_need_not_be_inputs():
    old = model(node("Mul", "x w"), [("x", [2])], values={"w": 2 * ones(2)}, opset=7, ir_version=3)
    compare(old, ones(2))
    assert old.ir_version == 3


@pytest.mark.parametrize("opset", [12, 13])
def test_operators_that_a_files_opset_lacks(opset):
    """onnxruntime knows LayerNormalization in opset 12, too."""
    values = {"s": ones(4)}
    layer = node("LayerNormalization", "x s", axis=-1, stash_type=1)
    network = model(layer, [("x", [1, 4])], values=values, opset=opset)
    compare(network, np.arange(4, dtype="float32")[None])


# ------------------------------------------------------------------------------ windows

IMAGE = np.random.default_rng(0).normal(size=(2, 2, 7, 8)).astype("float32")


@pytest.mark.parametrize(
    ("op_type", "mode"),
    [
        ("Conv", "SAME_UPPER"),
        ("Conv", "SAME_LOWER"),
        ("MaxPool", "SAME_UPPER"),
        ("AveragePool", "SAME_LOWER"),
    ],
)
def test_auto_pad_of_open_lengths_with_strides(op_type, mode):
    weights = {"w": np.random.default_rng(1).normal(size=(3, 2, 3, 2)).astype("float32")}
    more, values = {"kernel_shape": [3, 2]}, {}
    if op_type == "Conv":
        more, values = {}, weights
    window = node(op_type, " ".join(["x", *values]), auto_pad=mode, strides=[2, 3], **more)
    network = model(window, [("x", [2, 2, "H", "W"])], values=values)
    compute = from_onnx(network)
    (x,), (y,) = compute.inputs.values(), compute.outputs.values()
    compute = function([x], y, mode=PYTHON)
    for image in (IMAGE, IMAGE[:, :, :6, :7]):
        (want,) = in_onnxruntime(network, [image])
        np.testing.assert_allclose(compute(image), want, rtol=1e-5, atol=1e-6)


def test_indices_under_auto_pad_of_open_lengths_are_refused():
    pool = node("MaxPool", "x", "y i", auto_pad="SAME_UPPER", strides=[2], kernel_shape=[3])
    with pytest.raises(ImportedOpError, match="positions of its maxima need the lengths of"):
        from_onnx(model(pool, [("x", [1, 1, "N"])]))


@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose"])
def test_kernels_whose_size_is_open(op_type):
    conv = node(op_type, "x w", strides=[1, 2], pads=[1, 0, 0, 1])
    weights = np.random.default_rng(1).normal(size=(2, 2, 3, 2)).astype("float32")
    compare(model(conv, [("x", [2, 2, 7, 8]), ("w", [2, 2, "h", "w"])]), IMAGE, weights)


# ------------------------------------------------------------------------------ what is refused


def test_initializers_without_their_data():
    broken = model(node("Add", "x w"), [("x", [2])], values={"w": ones(2)})
    broken.graph.initializer[0].raw_data = b""
    with pytest.raises(ImportedModelError, match="the initializer 'w': cannot reshape"):
        from_onnx(broken)


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("how", ["half_pixel", "output_half_pixel"])
def test_roi_align_whose_samples_depend_on_the_region(mode, how):
    align = node(
        "RoiAlign",
        "x rois which",
        mode=mode,
        output_height=2,
        output_width=3,
        spatial_scale=0.5,
        coordinate_transformation_mode=how,
    )
    rois = np.array([[0, 0, 15, 13], [3, 2, 5, 3], [4, 4, 4, 4], [-6, 1, 30, 9]], "float32")
    inputs = [("x", [2, 2, 7, 8]), ("rois", ["n", 4]), ("which", ["n"], INT64)]
    compare(model(align, inputs), IMAGE, rois, np.array([0, 1, 1, 0]), rtol=1e-4)
