"""Errors of the ONNX import."""

from collections import defaultdict
from collections.abc import Iterable


class ImportedModelError(ValueError):
    """An ONNX model is damaged, contradicts itself, or has inputs that PyTensor can't have."""


class ImportedShapeWarning(UserWarning):
    """An ONNX file declares shapes of results that the model doesn't compute."""


class ImportedOpError(NotImplementedError):
    """Some nodes of an ONNX model cannot be imported.

    Attributes
    ----------
    failures : list of (str, str, str)
        Of each such node the operator, what the model calls it, and the reason.
    """

    def __init__(self, failures: Iterable[tuple[str, str, str]]) -> None:
        self.failures = list(failures)
        groups: dict[tuple[str, str], list[str]] = defaultdict(list)
        for operator, label, reason in self.failures:
            groups[operator, reason].append(label)
        lines = [f"{len(self.failures)} node(s) of the model cannot be imported:"]
        for (operator, reason), labels in groups.items():
            lines += [f"  {len(labels)} x {operator}: {reason}", f"      first: {labels[0]}"]
        super().__init__("\n".join(lines))
