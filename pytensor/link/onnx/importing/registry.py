"""Converters from ONNX's operators to PyTensor's: where they are registered, and what they get."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, signature
from typing import Any, Literal, get_args, get_origin

import numpy as np
import onnx_ir as ir

from pytensor.link.conversions import import_all

MICROSOFT = "com.microsoft"
ML = "ai.onnx.ml"
LISTS = (ir.AttributeType.INTS, ir.AttributeType.FLOATS, ir.AttributeType.STRINGS)
# An attribute of opsets 1 to 5: which inputs may be overwritten
ALWAYS_WITHOUT_EFFECT = {"consumed_inputs"}


class Refused(Exception):
    """A converter's reason why one node can't be imported, and what to do about it."""


def attributes_of(other: Callable) -> Callable:
    """Return a decorator that gives a function `other`'s attributes, for its ``**attributes``."""

    def decorate(function):
        *own, _ = signature(function).parameters.values()
        names = {p.name for p in own}
        given = [p for p in signature(other).parameters.values() if p.name not in names]
        more = [p for p in given if p.kind is Parameter.KEYWORD_ONLY]
        function.__signature__ = Signature([*own, *more])
        return function

    return decorate


class Converter:
    """A function of an operator's inputs and attributes, which is called with a node.

    Attributes are the function's keyword-only parameters.  A node must have each one without a
    default; one that is annotated as a ``Literal`` must have one of its values; one that is
    annotated as an ``onnx_ir.TensorProtocol`` stays as the file has it; floats have single
    precision, defaults too.  A function whose first parameter is `node` gets the node as well.
    """

    def __init__(self, function: Callable) -> None:
        self.function = function
        parameters = list(signature(function).parameters.values())
        self.takes_node = bool(parameters) and parameters[0].name == "node"
        self.inputs = [p for p in parameters if p.kind is not Parameter.KEYWORD_ONLY]
        self.inputs = self.inputs[self.takes_node :]
        one_each = [p for p in self.inputs if p.kind is not Parameter.VAR_POSITIONAL]
        self.least = sum(p.default is Parameter.empty for p in one_each)
        self.most = len(one_each) if one_each == self.inputs else None
        self.attributes = {p.name: p for p in parameters if p.kind is Parameter.KEYWORD_ONLY}

    def __call__(self, node: Any, *inputs: Any) -> Any:
        """Convert a node with these inputs, None for those that are left out.

        Raises
        ------
        Refused
            If there are too few inputs or too many, or attributes aren't as the parameters say.
        """
        if len(inputs) < self.least:
            name = self.inputs[len(inputs)].name
            raise Refused(f"it has no input {name!r}, which it must have")
        if self.most is not None and len(inputs) > self.most:
            raise Refused(f"it has {len(inputs)} inputs, and takes {self.most} at most")
        values = {name: _value_of(node, p) for name, p in self.attributes.items()}
        return self.with_attributes(node, *inputs, **values)

    def with_attributes(self, node: Any, *inputs: Any, **values: Any) -> Any:
        """Convert a node as if it had these attributes, and no others."""
        return self.function(*([node] if self.takes_node else []), *inputs, **values)


def _value_of(node, parameter):
    """Return an attribute: a number, string, list of these, array, or `onnx_ir.Graph`."""
    name, kind = parameter.name, parameter.annotation
    if name in node.ir_node.attributes:
        value = _read(node.ir_node.attributes[name], kind)
    else:
        value = parameter.default
    if value is Parameter.empty:
        raise Refused(f"it has no attribute {name!r}, which it must have")
    if get_origin(kind) is Literal and value not in get_args(kind):
        allowed = ", ".join(map(repr, get_args(kind)))
        if len(get_args(kind)) == 1:
            raise Refused(f"its attribute {name} is {value!r}, and only {allowed} is supported")
        raise Refused(f"its {name} is {value!r}; there are {allowed}")
    return float(np.float32(value)) if isinstance(value, float) else value


def _read(attribute, kind):
    value = attribute.value
    if attribute.type == ir.AttributeType.TENSOR and kind is not ir.TensorProtocol:
        return array_of(value)
    return list(value) if attribute.type in LISTS else value


class OperatorConverters:
    """Converters by the name of an ONNX operator.

    Parameters
    ----------
    modules : dict of (str, str or None) to str
        For a domain and an operator, or a domain and None, the module or the package that registers
        their converters.
    """

    def __init__(self, modules: Mapping[tuple[str, str | None], str]) -> None:
        self._modules = modules
        self.registry: dict[tuple[str, str], Converter] = {}
        self._older: dict[tuple[str, str], dict[int, Converter]] = defaultdict(dict)

    def register(self, *op_types: str, domain: str = "", before: int | None = None) -> Callable:
        """Return what registers a converter of operators, in opsets `before` one if it is given.

        Raises
        ------
        ValueError
            If an operator has one already.
        """

        def add(function):
            converter = Converter(function)
            for op_type in op_types:
                if before is None:
                    found, key = self.registry, (domain, op_type)
                else:
                    found, key = self._older[domain, op_type], before
                if key in found:
                    raise ValueError(f"there are two converters of {op_type} of {domain!r}")
                found[key] = converter
            return function

        return add

    def dispatch(
        self, op_type: str, domain: str = "", opset: int | None = None
    ) -> Converter | None:
        """Return the converter of an operator in an opset, by default the newest, or None."""
        key = domain, op_type
        for met in (key, (domain, None)):
            if key not in self.registry and met in self._modules:
                import_all(self._modules[met])
        older = self._older.get(key, {}) if opset is not None else {}
        later = [before for before in older if opset < before]
        return older[min(later)] if later else self.registry.get(key)

    def forms(self, op_type: str, domain: str = "") -> dict[int | None, Converter]:
        """Return an operator's converters by the opset `before` which each holds, or None."""
        newest = {None: self.registry[domain, op_type]}
        return dict(sorted(self._older.get((domain, op_type), {}).items())) | newest

    def load(self) -> None:
        """Import all modules, so that `registry` is complete."""
        for module in self._modules.values():
            import_all(module)


def must_have(**attributes: Any) -> None:
    """Refuse a node that lacks one of these attributes, which nodes of its form must have."""
    for name, value in attributes.items():
        if value is None:
            raise Refused(f"it has no attribute {name!r}, which it must have")


# What few models have, which is imported when it is met
CONTRIB = "pytensor.link.onnx.contrib"
MODULES = {
    ("", None): "pytensor.link.onnx.importing.rare",
    (ML, None): f"{CONTRIB}.ml",
    (MICROSOFT, None): f"{CONTRIB}.microsoft",
    # onnxruntime's optimizer writes it without its domain
    ("", "SimplifiedLayerNormalization"): f"{CONTRIB}.microsoft",
}
operator_funcify = OperatorConverters(MODULES)
"""Converters from ONNX's operators.

A function that is registered gets a variable for each of the node's inputs, None for those left
out, and the node's attributes by name (`Converter`).  It returns a variable for each output, as
a sequence if there are several; it may leave out the last ones if the node doesn't have them.  A
value of a sequence type is a Python list of variables.
"""


def dtype_name(dtype: ir.DataType) -> str:
    """Return NumPy's name of an ONNX element type.

    Raises
    ------
    Refused
        If PyTensor has no such dtype.
    """
    try:
        name = dtype.numpy().name
    except TypeError:
        name = None
    if name is None or not (np.dtype(name).isbuiltin == 1 and np.dtype(name).kind in "biufc"):
        raise Refused(f"PyTensor has no dtype for {dtype.name}")
    return name


# Of weights: float32 holds every value of these, and PyTensor has none of them
_NAMES = ("BFLOAT", "FLOAT4", "FLOAT8", "INT4", "UINT4")
NARROW = {dtype for dtype in ir.DataType if dtype.name.startswith(_NAMES)}


def array_of(tensor: ir.TensorProtocol) -> np.ndarray:
    """Return the values of a tensor of the file; Refused if PyTensor has no such dtype."""
    if tensor.dtype in NARROW:
        return np.asarray(tensor.numpy()).astype("float32")
    dtype_name(tensor.dtype)
    return np.asarray(tensor.numpy())
