"""Errors of the ONNX export."""

from collections import defaultdict

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

    def __init__(self, failures):
        self.failures = list(failures)
        groups = defaultdict(list)
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
                f"    def onnx_funcify_{name}(op, node, builder, *inputs):\n"
                '        return builder.add("OnnxOpType", *inputs)'
            )
        super().__init__("\n".join(lines))


class VerificationError(AssertionError):
    """An exported model does not compute what the PyTensor graph computes."""


class DroppedCheckWarning(UserWarning):
    """A check that raises an error in PyTensor is not in the exported model."""


class DroppedPrintWarning(UserWarning):
    """What a graph prints in PyTensor is not printed by the exported model."""


class DroppedRandomStateWarning(UserWarning):
    """An exported model draws random numbers of its own: the generators' states aren't in it."""


def _signature(node):
    inputs = ", ".join(f"{i}: {i.type}" for i in node.inputs)
    outputs = ", ".join(str(o.type) for o in node.outputs)
    return f"({inputs}) -> {outputs}"
