"""For which dtypes onnxruntime has kernels on the CPU, and in which dtype to compute instead."""

import numpy as np

from pytensor.link.onnx.errors import ConversionError

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
# Operators by the dtypes of their main type parameter that operator sets 18 to 24 all have. float16
# is listed where there is a kernel of its own; elsewhere onnxruntime computes it in float32 and
# rounds once.  thoughts/upstream/onnxruntime-missing-kernels.md
OPERATORS = {
    "bool": "And Not Or Xor",
    "int64": "ConstantOfShape",
    "float32": """
        Acos Acosh Asin Asinh Atan Atanh AveragePool Col2Im Conv ConvTranspose Cosh Det Elu Erf
        Gelu GlobalAveragePool GlobalLpPool GlobalMaxPool HardSigmoid Hardmax
        InstanceNormalization LeakyRelu LpPool MaxUnpool PRelu Sinh Softplus Softsign Tan
    """,
    "float16 float32": "Attention RotaryEmbedding",
    "float32 float64": """
        BatchNormalization Ceil Cos Dropout Exp Floor Gemm IsInf Log LogSoftmax LpNormalization
        Reciprocal Sigmoid Sin Softmax Sqrt Sum Tanh
    """,
    "int32 int64 float32": "OneHot",
    "uint8 uint32 uint64": "BitShift",
    "float16 float32 float64": "IsNaN LayerNormalization RMSNormalization Round",
    "int8 int32 uint8 float32": "Resize",
    "int8 int32 float32 float64": "Relu",
    "int8 int64 float32 float64": "Unique",
    "int8 uint8 float32 float64": "DepthToSpace MaxPool SpaceToDepth",
    "int32 int64 float32 float64": """
        CumSum Einsum Pow ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMean ReduceProd
        ReduceSum ReduceSumSquare
    """,
    "bool int32 int64 uint8 float32": "NonZero",
    "bool int32 int64 float32 float64": "Trilu",
    "int16 int32 int64 float32 float64": "Range",
    "int32 int64 uint64 float32 float64": "EyeLike",
    "int8 int16 int32 int64 float32 float64": "Neg",
    "int8 int32 int64 uint8 float32 float64": "ArgMax ArgMin ReduceMax ReduceMin",
    "int32 int64 uint32 uint64 float32 float64": "MatMul",
    "int8 int16 int32 int64 uint8 float32 float64": "TopK",
    "int8 int32 int64 uint8 uint32 float32 float64": "Where",
    INTEGERS: "BitwiseAnd BitwiseNot BitwiseOr BitwiseXor",
    "bool int8 int32 int64 uint8 uint32 uint64 float32 float64": "Pad",
    "int8 int32 int64 uint8 uint32 uint64 float16 float32 float64": "Clip Max Min",
    f"{INTEGERS} float32 float64": "Abs Add Div Greater GreaterOrEqual Less LessOrEqual Mul Sub",
    f"{INTEGERS} float16 float32 float64": "Mod Sign",
    f"bool {INTEGERS} float16 float32 float64": """
        Cast Compress Concat Equal Expand Flatten Gather GatherElements GatherND Identity If
        Loop Reshape ReverseSequence Scan ScatterElements ScatterND Shape Size Slice Split
        Squeeze TensorScatter Tile Transpose Unsqueeze
    """,
}
KERNELS = {
    op_type: frozenset(dtypes.split())
    for dtypes, op_types in OPERATORS.items()
    for op_type in op_types.split()
}

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
    """Return whether onnxruntime computes `op_type` of `dtype` without a cast in the model."""
    kernels = KERNELS[op_type]
    return dtype in kernels or (dtype == "float16" and "float32" in kernels)


def work_dtype(op_type, dtype):
    """Return `dtype`, or the narrowest dtype with a kernel that holds all of its values.

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
