"""Errors of the ONNX export."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from pytensor.graph.basic import Apply

NO_CONVERTER = "no converter is registered"


class ConversionError(Exception):
    """A converter's reason why one node cannot be written in ONNX.

    Converters raise it; `export_onnx` collects every one and raises one `UnsupportedOpError`.
    """


class UnsupportedOpError(NotImplementedError):
    """Some nodes of a graph cannot be exported to ONNX.

    Attributes
    ----------
    failures : list of (Apply, str)
        Every offending node with the reason.
    """

    def __init__(self, failures: Iterable[tuple[Apply, str]]) -> None:
        self.failures = list(failures)
        groups: dict[tuple[str, str], list[Apply]] = defaultdict(list)
        for node, reason in self.failures:
            groups[str(node.op), reason].append(node)
        lines = [f"{len(self.failures)} node(s) cannot be exported to ONNX:"]
        for (op, reason), nodes in groups.items():
            lines.append(f"  {len(nodes)} x {op}: {reason}")
            lines.append(f"      first: {_signature(nodes[0])}")
        missing = [node.op for node, reason in self.failures if reason.startswith(NO_CONVERTER)]
        if missing:
            op = missing[0]
            name = type(getattr(op, "scalar_op", None) or getattr(op, "core_op", op)).__name__
            lines.append(
                "To support an Op, register a converter for its class:\n"
                "    from pytensor.link.onnx import onnx_funcify\n"
                f"    @onnx_funcify.register({name})\n"
                f"    def onnx_funcify_{name}(op, node, x, *inputs):\n"
                '        return x.node("OnnxOpType", *inputs)'
            )
        super().__init__("\n".join(lines))


class VerificationError(AssertionError):
    """An exported model does not compute what the PyTensor graph computes."""


class DroppedCheckWarning(UserWarning):
    """A check that raises an error in PyTensor is not in the exported model."""


class MixedRowsWarning(UserWarning):
    """A row's result depends on the other rows that a model is given with it."""


class DroppedPrintWarning(UserWarning):
    """What a graph prints in PyTensor is not printed by the exported model."""


class DroppedRandomStateWarning(UserWarning):
    """An exported model draws random numbers of its own: the generators' states aren't in it."""


# Operators that fail at an index, where PyTensor raises an IndexError.
INDEXING = ("Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND")
FAILED_NODE = re.compile(r"while running (\w+) node\. Name:'([^']*)' Status Message: ")
# Where in onnxruntime's source an error comes from
SOURCE = re.compile(r"^\S+:\d+ (?:.*onnxruntime::\w+::\w+\([^)]*\) )?")


def run_error(error: Exception, origins: Mapping[str, Apply]) -> Exception | None:
    """Return what PyTensor would raise where a model couldn't be run; None for other errors.

    `origins` are the PyTensor nodes that ONNX nodes are named after.
    """
    text = str(error)
    failed = list(FAILED_NODE.finditer(text))
    if type(error).__module__ != "onnxruntime.capi.onnxruntime_pybind11_state":
        return None
    if "Got invalid dimensions for input" in text:
        # PyTensor itself has checked what it knows of an input from its type.
        return AssertionError(f"an input is not of the shape that SpecifyShape says: {text}")
    if not failed:
        return None
    # The last one: where a node in a loop failed, the loop comes first.
    op_type, name = failed[-1].groups()
    reason = SOURCE.sub("", text[failed[-1].end() :]).strip()
    node = origins.get(name.split("/")[0])
    what = f"{node.op} of {_signature(node)}" if node is not None else "a node of the graph"
    kind: type[Exception] = IndexError if op_type in INDEXING else ValueError
    if "allocate" in reason or "bad_alloc" in reason:
        kind = MemoryError
    return kind(f"{what} failed in onnxruntime ({op_type} {name!r}): {reason or 'no reason given'}")


def _signature(node: Apply) -> str:
    inputs = ", ".join(f"{i}: {i.type}" for i in node.inputs)
    outputs = ", ".join(str(o.type) for o in node.outputs)
    return f"({inputs}) -> {outputs}"
