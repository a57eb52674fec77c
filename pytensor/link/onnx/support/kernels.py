"""For which dtypes onnxruntime has kernels on the CPU, and in which dtype to compute instead."""

import numpy as np

from pytensor.link.onnx.errors import ConversionError

ANY = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"

# Dtypes of the main type parameter that operator sets 18 to 24 all have. float16 is listed where
# there is a kernel of its own; elsewhere onnxruntime computes it in float32 and rounds once.
KERNELS = {
    "Abs": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64",
    "Acos": "float32",
    "Acosh": "float32",
    "Add": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64",
    "And": "bool",
    "ArgMax": "int8 int32 int64 uint8 float32 float64",
    "ArgMin": "int8 int32 int64 uint8 float32 float64",
    "Asin": "float32",
    "Asinh": "float32",
    "Atan": "float32",
    "Atanh": "float32",
    "Attention": "float16 float32",
    "AveragePool": "float32",
    "BatchNormalization": "float32 float64",
    "BitShift": "uint8 uint32 uint64",
    "BitwiseAnd": "int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    "BitwiseNot": "int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    "BitwiseOr": "int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    "BitwiseXor": "int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    "Cast": ANY,
    "Ceil": "float32 float64",
    "Clip": "int8 int32 int64 uint8 uint32 uint64 float16 float32 float64",
    "Col2Im": "float32",
    "Compress": ANY,
    "Concat": ANY,
    "ConstantOfShape": "int64",
    "Conv": "float32",
    "ConvTranspose": "float32",
    "Cos": "float32 float64",
    "Cosh": "float32",
    "CumSum": "int32 int64 float32 float64",
    "DepthToSpace": "int8 uint8 float32 float64",
    "Det": "float32",
    "Div": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64",
    "Dropout": "float32 float64",
    "Einsum": "int32 int64 float32 float64",
    "Elu": "float32",
    "Equal": ANY,
    "Erf": "float32",
    "Exp": "float32 float64",
    "Expand": ANY,
    "EyeLike": "int32 int64 uint64 float32 float64",
    "Flatten": ANY,
    "Floor": "float32 float64",
    "Gather": ANY,
    "GatherElements": ANY,
    "GatherND": ANY,
    "Gelu": "float32",
    "Gemm": "float32 float64",
    "GlobalAveragePool": "float32",
    "GlobalLpPool": "float32",
    "GlobalMaxPool": "float32",
    "Greater": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64",
    "GreaterOrEqual": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64",
    "HardSigmoid": "float32",
    "Hardmax": "float32",
    "Identity": ANY,
    "If": ANY,
    "InstanceNormalization": "float32",
    "IsInf": "float32 float64",
    "IsNaN": "float16 float32 float64",
    "LayerNormalization": "float16 float32 float64",
    "LeakyRelu": "float32",
    "Less": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64",
    "LessOrEqual": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64",
    "Log": "float32 float64",
    "LogSoftmax": "float32 float64",
    "Loop": ANY,
    "LpNormalization": "float32 float64",
    "LpPool": "float32",
    "MatMul": "int32 int64 uint32 uint64 float32 float64",
    "Max": "int8 int32 int64 uint8 uint32 uint64 float16 float32 float64",
    "MaxPool": "int8 uint8 float32 float64",
    "MaxUnpool": "float32",
    "Min": "int8 int32 int64 uint8 uint32 uint64 float16 float32 float64",
    "Mod": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64",
    "Mul": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64",
    "Neg": "int8 int16 int32 int64 float32 float64",
    "NonZero": "bool int32 int64 uint8 float32",
    "Not": "bool",
    "OneHot": "int32 int64 float32",
    "Or": "bool",
    "PRelu": "float32",
    "Pad": "bool int8 int32 int64 uint8 uint32 uint64 float32 float64",
    "Pow": "int32 int64 float32 float64",
    "RMSNormalization": "float16 float32 float64",
    "Range": "int16 int32 int64 float32 float64",
    "Reciprocal": "float32 float64",
    "ReduceL1": "int32 int64 float32 float64",
    "ReduceL2": "int32 int64 float32 float64",
    "ReduceLogSum": "int32 int64 float32 float64",
    "ReduceLogSumExp": "int32 int64 float32 float64",
    "ReduceMax": "int8 int32 int64 uint8 float32 float64",
    "ReduceMean": "int32 int64 float32 float64",
    "ReduceMin": "int8 int32 int64 uint8 float32 float64",
    "ReduceProd": "int32 int64 float32 float64",
    "ReduceSum": "int32 int64 float32 float64",
    "ReduceSumSquare": "int32 int64 float32 float64",
    "Relu": "int8 int32 float32 float64",
    "Reshape": ANY,
    "Resize": "int8 int32 uint8 float32",
    "ReverseSequence": ANY,
    "RotaryEmbedding": "float16 float32",
    "Round": "float16 float32 float64",
    "Scan": ANY,
    "ScatterElements": ANY,
    "ScatterND": ANY,
    "Shape": ANY,
    "Sigmoid": "float32 float64",
    "Sign": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64",
    "Sin": "float32 float64",
    "Sinh": "float32",
    "Size": ANY,
    "Slice": ANY,
    "Softmax": "float32 float64",
    "Softplus": "float32",
    "Softsign": "float32",
    "SpaceToDepth": "int8 uint8 float32 float64",
    "Split": ANY,
    "Sqrt": "float32 float64",
    "Squeeze": ANY,
    "Sub": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64",
    "Sum": "float32 float64",
    "Tan": "float32",
    "Tanh": "float32 float64",
    "TensorScatter": ANY,
    "Tile": ANY,
    "TopK": "int8 int16 int32 int64 uint8 float32 float64",
    "Transpose": ANY,
    "Trilu": "bool int32 int64 float32 float64",
    "Unique": "int8 int64 float32 float64",
    "Unsqueeze": ANY,
    "Where": "int8 int32 int64 uint8 uint32 float32 float64",
    "Xor": "bool",
}
KERNELS = {op_type: frozenset(dtypes.split()) for op_type, dtypes in KERNELS.items()}

# Every value of a dtype is one of those after it.
WIDER = {
    "bool": ("uint8", "int8", "int32", "int64"),
    "int8": ("int16", "int32", "int64"),
    "int16": ("int32", "int64"),
    "int32": ("int64",),
    "uint8": ("int16", "uint16", "int32", "uint32", "int64"),
    "uint16": ("int32", "uint32", "int64"),
    "uint32": ("int64", "uint64"),
    "float16": ("float32",),
}


def has_kernel(op_type, dtype):
    """Whether onnxruntime computes `op_type` of `dtype` without a cast in the model."""
    kernels = KERNELS[op_type]
    return dtype in kernels or (dtype == "float16" and "float32" in kernels)


def work_dtype(op_type, dtype):
    """`dtype`, or the narrowest dtype with a kernel that holds all of its values.

    Raises
    ------
    ConversionError
        If there is none: nothing is ever computed in a narrower dtype.
    """
    for candidate in (dtype, *WIDER.get(dtype, ())):
        if has_kernel(op_type, candidate):
            return candidate
    kernels = sorted(KERNELS[op_type], key=lambda name: (np.dtype(name).kind, name))
    raise ConversionError(
        f"onnxruntime has no {op_type} for {dtype} ({', '.join(kernels)} only); "
        "build the graph with, or cast its inputs to, one of these"
    )
