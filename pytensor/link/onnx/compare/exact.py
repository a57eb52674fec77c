"""Computes what one node should give, in double precision, and how far rounding may go.

A node is read by `from_onnx` and computed in float64.  To its result belongs a bound: what an
implementation in the model's own dtype can lose, to first order, by rounding.  Let u be the unit
roundoff of the output's dtype (2**-24 of float32).

- What moves or selects numbers, and what computes with integers, loses nothing.
- Sums of n products (convolutions, matrix products, reductions) lose
  ``u * (4 |y| + 6 min(n a, 4 a + sqrt(n) (|y| + q)))``, where `a` is the sum of the products'
  magnitudes, `q` the root of the sum of their squares: partial sums of terms in no particular order
  are of the size of |y| + q, and the errors of n additions grow as sqrt(n) (Higham and Mary, A new
  approach to probabilistic rounding error analysis, 2019); never more than n times.
- Functions of one number lose some units, and what a change of their inputs by 2 u changes.
- Attention is sums of functions of sums: it loses what a change of its inputs by 16 sqrt(n) u
  changes, where n is the most terms that one sum has.
- All else loses what a change of its inputs by 4 u changes, and some units of the largest number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

import onnx
from onnx import TensorProto, helper, numpy_helper
from pytensor import config
from pytensor.compile.maker import function
from pytensor.compile.mode import Mode
from pytensor.link.onnx.compare.double_precision import in_double_precision
from pytensor.link.onnx.compare.graph import ComparisonError, bodies, names_read
from pytensor.link.onnx.importing.errors import ImportedOpError
from pytensor.link.onnx.importing.from_onnx import from_onnx
from pytensor.link.onnx.importing.model import graphs

MOVING = {
    "Abs", "And", "ArgMax", "ArgMin", "BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr",
    "BitwiseXor", "Ceil", "Clip", "Compress", "Concat", "Constant", "ConstantOfShape",
    "DepthToSpace", "Dropout", "Equal", "Expand", "EyeLike", "Flatten", "Floor", "Gather",
    "GatherElements", "GatherND", "GlobalMaxPool", "Greater", "GreaterOrEqual", "Hardmax",
    "Identity", "IsInf", "IsNaN", "Less", "LessOrEqual", "Max", "MaxPool", "Min", "Neg", "NonZero",
    "Not", "OneHot", "Or", "Pad", "ReduceMax", "ReduceMin", "Relu", "Reshape", "Round", "Shape",
    "Sign", "Size", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "TopK", "Transpose",
    "Trilu", "Unique", "Unsqueeze", "Where", "Xor",
}  # fmt: skip
ROUNDED = {
    "Add", "Cast", "CastLike", "DequantizeLinear", "Div", "LeakyRelu", "Mod", "Mul", "PRelu",
    "Reciprocal", "Sqrt", "Sub", "ThresholdedRelu",
}  # fmt: skip
SUMS = {
    "AveragePool", "Conv", "ConvTranspose", "CumSum", "Einsum", "Gemm", "GlobalAveragePool",
    "MatMul", "Mean", "ReduceL1", "ReduceMean", "ReduceSum", "ReduceSumSquare", "Sum",
}  # fmt: skip
# Units of the result, units of one: of what is computed by a formula that is accurate so
POINTWISE = {
    "Acos": (8, 8), "Asin": (8, 8), "Atan": (8, 8), "Celu": (8, 8), "Cos": (8, 8), "Elu": (8, 8),
    "Erf": (16, 4), "Exp": (16, 0), "Gelu": (16, 8), "HardSigmoid": (8, 4), "HardSwish": (8, 4),
    "Log": (8, 4), "Mish": (16, 8), "Pow": (32, 0), "Selu": (8, 8), "Sigmoid": (16, 4),
    "Sin": (8, 8), "Softplus": (16, 8), "Softsign": (8, 0), "Swish": (16, 8), "Tan": (16, 8),
    "Tanh": (16, 4),
}  # fmt: skip
# What computes in steps, each of which rounds
LONG = {"GRU", "If", "LSTM", "Loop", "RNN", "Scan"}
NESTED = {"Attention", "GroupQueryAttention", "MultiHeadAttention"}
# Floats that say how a node computes: it is read with them as constants
SETTINGS = {"Resize", "Upsample", "Range"}
# What NumPy and PyTensor raise where a node isn't defined: indices out of range, nothing to reduce
ERRORS = (ArithmeticError, AssertionError, LookupError, MemoryError, TypeError, ValueError)
PYTHON = Mode("py", optimizer=None)  # type: ignore[arg-type]
FEW = 64


class ExactNodes:
    """Computes nodes of models with these operator sets; programs are kept by their form."""

    def __init__(self, opsets: dict[str, int]) -> None:
        self.opsets = opsets
        self._programs: dict[Any, Any] = {}

    def judge(
        self, node: onnx.NodeProto, given: Sequence[np.ndarray], bounded: bool = True
    ) -> list["Judged"]:
        """Compute a node for the values of `names_read`; return what each of its outputs should be.

        Raises
        ------
        ComparisonError
            If `from_onnx` can't read the node, or it draws random numbers.
        """
        run, dtypes = self._program(node, given)
        doubles = [_double(x) for x in given]
        values = run(doubles)
        if not bounded:
            return [Judged(*pair, None) for pair in zip(values, dtypes, strict=True)]
        with np.errstate(all="ignore"):
            bounds = _bounds(node, run, doubles, [x.dtype for x in given], values, dtypes)
        return [Judged(*one) for one in zip(values, dtypes, bounds, strict=True)]

    def _program(self, node: onnx.NodeProto, given: Sequence[np.ndarray]) -> tuple[Any, list[Any]]:
        """Return a function of the inputs as float64, and the outputs' own dtypes."""
        constant = [_is_setting(node, i, x) for i, x in enumerate(given)]
        pairs = list(zip(given, constant, strict=True))
        key = (
            _form(node),
            tuple((x.dtype.name, x.shape, x.tobytes() if c else None) for x, c in pairs),
        )
        if key not in self._programs:
            with np.errstate(all="ignore"), config.change_flags(cxx=""):
                self._programs[key] = self._compile(node, given, constant)
        compiled, dtypes = self._programs[key]

        def run(values: Sequence[np.ndarray]) -> list[np.ndarray]:
            own = [x for x, c in zip(values, constant, strict=True) if not c]
            try:
                with np.errstate(all="ignore"), config.change_flags(cxx=""):
                    return [np.asarray(result) for result in compiled(*own)]
            except ERRORS as error:
                reason = str(error).splitlines()[0]
                raise ComparisonError(
                    f"{_label(node)} can't be computed for its inputs: {reason}"
                ) from error

        return run, dtypes

    def _compile(
        self, node: onnx.NodeProto, given: Sequence[np.ndarray], constant: Sequence[bool]
    ) -> tuple[Any, list[Any]]:
        names = names_read(node)
        tensors = [
            numpy_helper.from_array(np.asarray(x), name)
            for name, x in zip(names, given, strict=True)
        ]
        pairs = list(zip(tensors, constant, strict=True))
        infos = [
            helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t, c in pairs if not c
        ]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        known = [t for t, c in pairs if c]
        opsets = [helper.make_opsetid(*item) for item in self.opsets.items()]
        graph = helper.make_graph([node], "node", infos, outputs, known)
        proto = helper.make_model(graph, opset_imports=opsets)
        try:
            own = from_onnx(proto)
        except (ValueError, TypeError, ImportedOpError) as error:
            raise ComparisonError(f"{_label(node)} can't be read: {error}") from error
        if own.updates:
            raise ComparisonError(f"{_label(node)} draws random numbers")
        results = list(own.outputs.values())
        if not all(hasattr(v.type, "dtype") for v in results):
            raise ComparisonError(f"{_label(node)} makes a sequence; only tensors are compared")
        dtypes = [v.type.dtype for v in results]
        try:
            wide = from_onnx(_widened(proto))
            inputs, results = list(wide.inputs.values()), list(wide.outputs.values())
        except (ValueError, TypeError, ImportedOpError):  # what the standard has only in float32
            inputs, results = in_double_precision(list(own.inputs.values()), results)
        return function(inputs, results, mode=PYTHON, on_unused_input="ignore"), dtypes


@dataclass
class Judged:
    """Hold what a node should give, float64 or integers, its dtype, and the bound of the error."""

    value: np.ndarray
    dtype: str
    bound: np.ndarray | None


def _bounds(
    node: onnx.NodeProto, run: Any, given: Sequence[np.ndarray], own: Sequence[Any],
    values: Sequence[np.ndarray], dtypes: Sequence[str],
) -> list[np.ndarray]:  # fmt: skip
    kind = node.op_type if node.domain in ("", "ai.onnx") else ""
    of_floats = [dtype for dtype in own if is_float(dtype)]
    if kind in MOVING or not of_floats:
        return [np.zeros(y.shape) for y in values]
    if kind in SUMS and is_float(dtypes[0]):
        return [_bound_of_sum(node, run, given, values[0], dtypes[0])]
    if kind in ROUNDED:
        return [_bound_of_rounding(y, dtype) for y, dtype in zip(values, dtypes, strict=True)]
    pointwise = POINTWISE.get(kind)
    coarse = max(unit(dtype) for dtype in (*of_floats, *filter(is_float, dtypes)))
    steps = 2.0 if pointwise else 4.0
    if node.op_type in NESTED:
        steps = 16 * np.sqrt(max((n for x in given for n in x.shape[-2:]), default=1))
    moved = _moved(run, given, steps * coarse, values)
    bounds = []
    for y, change, dtype in zip(values, moved, dtypes, strict=True):
        if is_float(dtype):
            relative, absolute = pointwise or (0, 64 if kind in LONG else 16)
            scale = 1 if pointwise else np.abs(y[np.isfinite(y)]).max(initial=0)
            size = relative * np.abs(y) + absolute * scale
            bounds.append(2 * change + unit(dtype) * size + 4 * float(limits(dtype).tiny))
        else:
            bounds.append(change)
    return bounds


def _bound_of_rounding(y: np.ndarray, dtype: str) -> np.ndarray:
    if not is_float(dtype):
        return np.zeros(y.shape)
    return 4 * unit(dtype) * np.abs(y) + float(limits(dtype).smallest_subnormal)


def _bound_of_sum(
    node: onnx.NodeProto, run: Any, given: Sequence[np.ndarray], y: np.ndarray, dtype: str
) -> np.ndarray:
    [a] = run([np.abs(x) if is_float(x.dtype) else x for x in given])
    [q] = run([x * x if is_float(x.dtype) else x for x in given])
    a, q, n = np.abs(a), np.abs(q), _terms(node, given, y)
    partial = 4 * a + np.sqrt(n) * (np.abs(y) + np.sqrt(q))
    error = unit(dtype) * (4 * np.abs(y) + 6 * np.minimum(n * a, partial))
    # Where a partial sum can be beyond the dtype's largest number, the result may be infinite
    error = np.where(a > float(limits(dtype).max), np.inf, error)
    return error + 4 * n * float(limits(dtype).smallest_subnormal)


def _terms(node: onnx.NodeProto, given: Sequence[np.ndarray], y: np.ndarray) -> int:
    """Return of how many numbers an entry of the result is the sum."""
    first, kind = given[0], node.op_type
    if kind == "Conv":
        return given[1].size // max(given[1].shape[0], 1) + 1
    if kind == "ConvTranspose":
        return given[1].size // max(given[1].shape[1], 1) + 1
    if kind == "MatMul":
        return first.shape[-1]
    if kind == "Gemm":
        return first.size // max(y.shape[0], 1) + 1
    if kind in ("Mean", "Sum"):
        return len(given)
    if kind == "CumSum":
        return max(first.shape, default=1)
    if kind == "AveragePool":
        return prod(next(a.ints for a in node.attribute if a.name == "kernel_shape"))
    return max(x.size for x in given) if kind == "Einsum" else first.size // max(y.size, 1) + 1


def _moved(
    run: Any, given: Sequence[np.ndarray], by: float, values: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Return how far outputs move when inputs do, by random signs and by the opposite ones."""
    rng = np.random.default_rng(0)
    signs = [rng.integers(0, 2, x.shape) * 2 - 1 if is_float(x.dtype) else 0 for x in given]
    most = [np.zeros(y.shape) for y in values]
    for direction in (by, -by):
        pairs = zip(given, signs, strict=True)
        found = run([x * (1 + direction * s) if is_float(x.dtype) else x for x, s in pairs])
        for i, (y, z) in enumerate(zip(values, found, strict=True)):
            same = y.shape == z.shape
            most[i] = np.maximum(most[i], distance(y, z) if same else np.inf)
    return most


def distance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return |x - y| of arrays of one shape: 0 for NaN twice, infinite for NaN and a number."""
    if x.dtype == y.dtype and not is_float(x.dtype):
        # Two large integers may be one float64
        gap = np.abs(x.astype("float64") - y.astype("float64"))
        return np.where(x == y, 0, np.maximum(gap, 1))
    x, y = x.astype("float64"), y.astype("float64")
    with np.errstate(all="ignore"):
        gap = np.abs(x - y)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    return np.where(same, 0, np.where(np.isnan(gap), np.inf, gap))


def is_float(dtype: Any) -> bool:
    """Return whether a dtype is of floating point, bfloat16 too."""
    return np.dtype(dtype).kind == "f" or np.dtype(dtype) == ml_dtypes.bfloat16


def limits(dtype: Any) -> Any:
    """Return what `numpy.finfo` says of a dtype, bfloat16 too."""
    return ml_dtypes.finfo(np.dtype(dtype))


def unit(dtype: Any) -> float:
    """Return the unit roundoff: half the distance from 1 to the next larger number."""
    return float(limits(dtype).eps) / 2


def _label(node: onnx.NodeProto) -> str:
    return f"the node {node.op_type} {node.name or next(filter(None, node.output))!r}"


def _double(x: np.ndarray) -> np.ndarray:
    return x.astype("float64") if is_float(x.dtype) else x


def _is_setting(node: onnx.NodeProto, position: int, x: np.ndarray) -> bool:
    """Return whether an input is read as a constant: lengths, axes, and what SETTINGS have."""
    if node.op_type in SETTINGS:
        return position > 0 or node.op_type == "Range"
    return x.dtype.kind in "iu" and x.ndim <= 1 and x.size <= FEW


def _form(node: onnx.NodeProto) -> bytes:
    """Return what a node computes, whatever its values are called; bodies keep names."""
    form = onnx.NodeProto()
    form.CopyFrom(node)
    form.name = form.doc_string = ""
    del form.metadata_props[:]
    if not bodies(node):
        for names in (form.input, form.output):
            names[:] = [str(i) if name else "" for i, name in enumerate(names)]
    return form.SerializeToString(deterministic=True)


NARROW = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16)


def _widened(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model with float64 where it has narrower floats, in its bodies too."""
    wide = onnx.ModelProto()
    wide.CopyFrom(proto)
    for graph in graphs(wide.graph):
        for value in (*graph.input, *graph.output, *graph.value_info):
            if value.type.tensor_type.elem_type in NARROW:
                value.type.tensor_type.elem_type = TensorProto.DOUBLE
        for tensor in graph.initializer:
            _widen(tensor)
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField("t"):
                    _widen(attribute.t)
                if attribute.name in ("to", "dtype") and attribute.i in NARROW:
                    attribute.i = TensorProto.DOUBLE
    return wide


def _widen(tensor: onnx.TensorProto) -> None:
    if tensor.data_type in NARROW:
        array = numpy_helper.to_array(tensor).astype("float64")
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
