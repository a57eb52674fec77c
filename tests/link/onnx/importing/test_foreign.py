"""Files as strangers write them: what onnxruntime opens is imported, or refused with its reason."""

import numpy as np
import pytest

from pytensor import function
from pytensor.link.onnx import (
    ImportedModelError,
    ImportedShapeWarning,
    from_onnx,
)
from tests.link.onnx.importing.with_onnxruntime import (
    PYTHON,
    compare,
    in_onnxruntime,
    in_pytensor,
    normal,
    ones,
    parsed,
)

# ------------------------------------------------------------------------------ declared shapes


def test_wrong_shapes_of_results_are_listed():
    lie = parsed("(float[2] x) => (float y) <float[5] h> { h = Relu(x) y = Relu(h) }")
    with pytest.warns(ImportedShapeWarning, match=r"'h': \(5,\) declared, \(2,\) found; 'y': \(\)"):
        imported = from_onnx(lie)
    assert imported.outputs["y"].type.shape == (2,)


def test_wrong_shapes_in_a_body_are_listed():
    lie = parsed("""(float[3, 2] x) => (y)
        { u, y = Scan<num_scan_inputs = 1, body = step (float[3, 2] a, float[2] b)
            => (float[3, 2] a2, float[1] s)
            { a2 = Identity(a) d = Sub(a, b)
              s = ReduceSumSquare<axes = [1], keepdims = 0>(d) }>(x, w) }""",
        17, w=np.eye(2, dtype="float32"))  # fmt: skip
    with pytest.warns(ImportedShapeWarning, match=r"'s': \(1,\) declared, \(3,\) found"):
        compare(lie, [np.arange(6, dtype="float32").reshape(3, 2)])


@pytest.mark.parametrize("size", [-1, 0])
def test_sizes_that_are_no_lengths_are_open(size):
    network = parsed("(float[N, 2] x) => (float[N, 2] y) { y = Relu(x) }")
    for value in (*network.graph.input, *network.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = size
    assert from_onnx(network).inputs["x"].type.shape == (None, 2)
    np.testing.assert_array_equal(in_pytensor(network, [ones(3, 2)])[0], ones(3, 2))


def test_windows_beyond_the_padding_in_old_files():
    pool = """(float[1, 1, 3, 4] x) => (y) { y = MaxPool<kernel_shape = [2, 2],
        pads = [1, 0, 1, 0], strides = [2, 2], ceil_mode = 1>(x) }"""
    compare(parsed(pool, 11), [ones(1, 1, 3, 4)])


# ------------------------------------------------------------------------------ older files


def test_initializers_of_ir_3_need_not_be_inputs():
    old = parsed("(float[2] x) => (float[2] y) { y = Mul(x, w) }", 7, w=2 * ones(2))
    old.ir_version = 3
    compare(old, [ones(2)])


@pytest.mark.parametrize("opset", [12, 13])
def test_operators_that_a_files_opset_lacks(opset):
    """onnxruntime knows LayerNormalization in opset 12, too."""
    layer = "(float[1, 4] x) => (y) { y = LayerNormalization<axis = -1, stash_type = 1>(x, s) }"
    compare(parsed(layer, opset, s=ones(4)), [np.arange(4, dtype="float32")[None]])


# ------------------------------------------------------------------------------ windows

IMAGE = normal(2, 2, 7, 8)


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
    inputs, size = ("x, w", "") if op_type == "Conv" else ("x", ", kernel_shape = [3, 2]")
    network = parsed(f"""(float[2, 2, H, W] x) => (y)
        {{ y = {op_type}<auto_pad = "{mode}", strides = [2, 3]{size}>({inputs}) }}""",
        w=normal(3, 2, 3, 2))  # fmt: skip
    compute = from_onnx(network)
    (x,), (y,) = compute.inputs.values(), compute.outputs.values()
    compute = function([x], y, mode=PYTHON)
    for image in (IMAGE, IMAGE[:, :, :6, :7]):
        (want,) = in_onnxruntime(network, [image])
        np.testing.assert_allclose(compute(image), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose"])
def test_kernels_whose_size_is_open(op_type):
    conv = f"""(float[2, 2, 7, 8] x, float[2, 2, h, w] k) => (y)
        {{ y = {op_type}<strides = [1, 2], pads = [1, 0, 0, 1]>(x, k) }}"""
    compare(parsed(conv), [IMAGE, normal(2, 2, 3, 2)])


# ------------------------------------------------------------------------------ what is refused


def test_initializers_without_their_data():
    broken = parsed("(float[2] x) => (float[2] y) { y = Add(x, w) }", w=ones(2))
    broken.graph.initializer[0].raw_data = b""
    with pytest.raises(ImportedModelError, match="the initializer 'w': cannot reshape"):
        from_onnx(broken)


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("how", ["half_pixel", "output_half_pixel"])
def test_roi_align_whose_samples_depend_on_the_region(mode, how):
    network = parsed(f"""(float[2, 2, 7, 8] x, float[n, 4] rois, int64[n] which) => (y)
        {{ y = RoiAlign<mode = "{mode}", output_height = 2, output_width = 3, spatial_scale = 0.5,
            coordinate_transformation_mode = "{how}">(x, rois, which) }}""")
    rois = np.array([[0, 0, 15, 13], [3, 2, 5, 3], [4, 4, 4, 4], [-6, 1, 30, 9]], "float32")
    compare(network, [IMAGE, rois, np.array([0, 1, 1, 0])], rtol=1e-4)
