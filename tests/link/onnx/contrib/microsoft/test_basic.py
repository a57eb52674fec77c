"""Operators of com.microsoft, through `from_onnx` and in onnxruntime."""

import numpy as np
import pytest

from pytensor.link.onnx import ImportedOpError, from_onnx
from pytensor.link.onnx.importing.registry import MICROSOFT
from tests.link.onnx.importing.with_onnxruntime import (
    compare,
    in_onnxruntime,
    in_pytensor,
    normal,
    one_node,
)


def integers(*shape, dtype="uint8", seed=0):
    limits = np.iinfo(dtype)
    rng = np.random.default_rng([seed, *shape])
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def scalar(value, dtype="float32"):
    return np.array(value, dtype=dtype)


X = normal(2, 3, 4)
CASES = {
    "Gelu": ([X], {}),
    "BiasGelu": ([X, normal(4)], {}),
    "FastGelu": ([X], {}),
    "FastGelu of a sum": ([X, normal(4)], {}),
    "QuickGelu": ([X], {"alpha": 0.75}),
    "FusedConv": (
        [normal(1, 2, 5, 6), normal(3, 2, 2, 3), normal(3)],
        {"activation": "Relu", "strides": [2, 1], "pads": [0, 1, 1, 0]},
    ),
    "NhwcMaxPool with pads that its auto_pad doesn't need": (
        [integers(1, 5, 6, 2)],
        {"kernel_shape": [2, 3], "auto_pad": "VALID", "pads": [0, 0, 0, 0]},
    ),
    "FusedConv and a sum": (
        [normal(1, 2, 5, 6), normal(3, 2, 2, 3), normal(3), normal(1, 3, 4, 4)],
        {"activation": "LeakyRelu", "activation_params": [0.25]},
    ),
    "FusedConv clipped": (
        [normal(1, 2, 5, 6), normal(3, 2, 2, 3)],
        {"activation": "Clip", "activation_params": [-0.5, 1.5]},
    ),
    "FusedGemm": (
        [normal(3, 2), normal(4, 3), normal(4)],
        {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0, "activation": "Tanh"},
    ),
    "FusedGemm and its parameter": (
        [normal(2, 3), normal(3, 4)],
        {"activation": "LeakyRelu", "activation_alpha": 0.125},
    ),
    "FusedGemm and a threshold that a number is": (
        [np.array([[1, -1, 2, 0.5]], "float32"), np.eye(4, dtype="float32")],
        {"activation": "ThresholdedRelu", "activation_alpha": 1.0},
    ),
    "FusedMatMul": ([normal(2, 5, 3), normal(2, 4, 5)], {"transA": 1, "transB": 1, "alpha": 0.5}),
    "FusedMatMul of moved batches": (
        [normal(3, 2, 5, 4), normal(4, 2, 5, 6)],
        {"transBatchA": 1, "transBatchB": 1},
    ),
    "FusedMatMul of moved and turned batches": (
        [normal(5, 2, 3), normal(2, 5, 4)],
        {"transBatchA": 1, "transA": 1},
    ),
    "TransposeMatMul": ([normal(5, 3), normal(5, 4)], {"transA": 1}),
    "SkipLayerNormalization": ([X, normal(2, 3, 4, seed=1), normal(4), normal(4, seed=2)], {}),
    "SkipLayerNormalization and a bias": (
        [X, normal(3, 4), normal(4), None, normal(4, seed=3)],
        {"epsilon": 0.5},
    ),
    "SkipSimplifiedLayerNormalization": (
        [X, normal(2, 3, 4, seed=1), normal(4), normal(4, seed=3)],
        {"epsilon": 0.25},
    ),
    "Inverse": ([normal(2, 3, 3)], {}),
    "Trilu": ([X, scalar(1, "int64")], {"upper": 0}),
    "QLinearLeakyRelu": (
        [integers(3, 4), scalar(0.1), scalar(100, "uint8"), scalar(0.05), scalar(90, "uint8")],
        {"alpha": 0.25},
    ),
    "QLinearAveragePool": (
        [integers(1, 2, 5, 6), scalar(0.1), scalar(9, "uint8"), scalar(0.08), scalar(30, "uint8")],
        {"kernel_shape": [2, 3], "strides": [1, 2], "pads": [1, 0, 0, 1]},
    ),
    "QLinearAveragePool of channels last": (
        [integers(1, 5, 6, 2), scalar(0.1), scalar(9, "uint8"), scalar(0.08), scalar(30, "uint8")],
        {"kernel_shape": [2, 3], "strides": [1, 2], "channels_last": 1},
    ),
    "QLinearGlobalAveragePool": (
        [integers(1, 2, 5, 6), scalar(0.1), scalar(9, "uint8"), scalar(0.08), scalar(30, "uint8")],
        {},
    ),
    "QLinearSoftmax": (
        [integers(3, 5), scalar(0.02), scalar(90, "uint8"), scalar(1 / 256), scalar(0, "uint8")],
        {"axis": -1, "opset": 13},
    ),
    "QLinearConcat": (
        [
            scalar(0.1),
            scalar(20, "uint8"),
            integers(2, 3),
            scalar(0.05),
            scalar(3, "uint8"),
            integers(2, 2),
            scalar(0.2),
            scalar(100, "uint8"),
        ],
        {"axis": 1},
    ),
}
TYPES = {"QLinearConcat": "uint8"}


@pytest.mark.parametrize("case", CASES)
def test_as_in_onnxruntime(case):
    inputs, attributes = CASES[case]
    op_type = case.split()[0]
    types = [TYPES.get(op_type, inputs[0].dtype)]
    model = one_node(op_type, inputs, domain=MICROSOFT, types=types, **attributes)
    # Averages of integers are often ties, which onnxruntime rounds after other roundings
    atol = 1 if "AveragePool" in op_type else 1e-5
    compare(model, [v for v in inputs if v is not None], rtol=1e-4, atol=atol)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("op_type", ["QLinearAdd", "QLinearMul", "QLinearSigmoid"])
def test_of_quantized_numbers(op_type, dtype):
    low = np.iinfo(dtype).min

    def number(n, scale, zero, *shape):
        return [integers(*shape, dtype=dtype, seed=n), scalar(scale), scalar(low + zero, dtype)]

    inputs = number(1, 0.05, 100, 16, 20)
    if op_type != "QLinearSigmoid":
        inputs += number(2, 0.03, 140, 20)
    inputs += [scalar(1 / 200), scalar(low + 40, dtype)]
    model = one_node(op_type, inputs, domain=MICROSOFT)
    (want,), (result,) = in_onnxruntime(model, inputs), in_pytensor(model, inputs)
    assert result.dtype == want.dtype
    # onnxruntime's fused products round ties elsewhere, and its sigmoid is a table's
    difference = abs(result.astype(int) - want)
    assert difference.max() <= 1
    assert (difference > 0).mean() < 0.02


@pytest.mark.parametrize(
    ("count", "reason"),
    [
        (3, "it has no input 'scale', which it must have"),
        (6, "it has 6 inputs, and takes 5 at most"),
    ],
)
def test_numbers_of_inputs_that_no_schema_says(count, reason):
    inputs = [integers(3), *[scalar(1)] * (count - 1)]
    with pytest.raises(ImportedOpError, match=reason):
        from_onnx(one_node("QLinearSigmoid", inputs, domain=MICROSOFT))


def test_simplified_layer_normalization_is_in_onnxs_domain_too():
    inputs = [X, normal(4)]
    model = one_node("SimplifiedLayerNormalization", inputs, epsilon=0.5, stash_type=1)
    compare(model, inputs)


def test_sum_before_skip_layer_normalization():
    inputs = [X, normal(2, 3, 4, seed=1), normal(4), normal(4, seed=2), normal(4, seed=3)]
    model = one_node("SkipLayerNormalization", inputs, 4, domain=MICROSOFT)
    for position in (2, 1):
        model.graph.node[0].output[position] = ""
        del model.graph.output[position]
    compare(model, inputs)
    with pytest.raises(ImportedOpError, match="is only for training"):
        from_onnx(one_node("SkipLayerNormalization", inputs, 2, domain=MICROSOFT))


@pytest.mark.parametrize("with_mask", [True, False])
def test_embed_layer_normalization(with_mask):
    rng = np.random.default_rng(3)
    words, segments = (rng.integers(0, n, (2, 3), dtype="int32") for n in (7, 2))
    mask = np.array([[1, 1, 0], [1, 2, 1]], dtype="int32") if with_mask else None
    inputs = [words, segments, normal(7, 4), normal(5, 4), normal(2, 4), normal(4), normal(4), mask]
    inputs = inputs if with_mask else inputs[:-1]
    types = ["float32", "int32", "float32"]
    how = {"domain": MICROSOFT, "types": types, "mask_index_type": 1}
    model = one_node("EmbedLayerNormalization", inputs, 3, **how)
    compare(model, inputs)


@pytest.mark.parametrize("per_column", [True, False])
def test_products_of_integers(per_column):
    # Small ones: without VNNI, onnxruntime's sums of two products are cut off at 16 bits
    b = integers(5, 4, dtype="int8") // 2
    scale = abs(normal(4)) if per_column else scalar(0.25)
    zero = np.array([1, -3, 0, 7], dtype="int8") if per_column else scalar(-5, "int8")
    a = normal(2, 3, 5)
    inputs = [a, b, scale, zero, normal(4, seed=1)]
    compare(one_node("DynamicQuantizeMatMul", inputs, domain=MICROSOFT), inputs, rtol=1e-4)
    inputs = [integers(3, 5), b, scalar(0.5), scale, scalar(100, "uint8"), zero, normal(4, seed=1)]
    model = one_node("MatMulIntegerToFloat", inputs, domain=MICROSOFT, types=["float32"])
    compare(model, inputs, rtol=1e-4)
