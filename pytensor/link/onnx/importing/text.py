"""Text in models: PyTensor has none, so each string is an integer, its place in a list."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pytensor.graph.basic import Variable
from pytensor.link.onnx.importing.registry import ML

# Operators that move elements and don't look at them
MOVING = {
    (ML, "ArrayFeatureExtractor"),
    ("", "Compress"),
    ("", "Concat"),
    ("", "Expand"),
    ("", "Flatten"),
    ("", "Gather"),
    ("", "GatherElements"),
    ("", "GatherND"),
    ("", "Identity"),
    ("", "Reshape"),
    ("", "Slice"),
    ("", "Split"),
    ("", "Squeeze"),
    ("", "Tile"),
    ("", "Transpose"),
    ("", "Unsqueeze"),
    ("", "Where"),
}
# Operators whose converters take `Text`, and those that get its numbers
READING = {(ML, "CategoryMapper"), (ML, "LabelEncoder"), (ML, "OneHotEncoder")}
OF_NUMBERS = {("", "Equal"), ("", "Shape"), ("", "Size")}


@dataclass(eq=False)
class Text:
    """A tensor of strings, by their numbers; -1 is any string that the list lacks."""

    codes: Variable


class Strings(dict):
    """The strings of a model, each with its number."""

    def codes(self, strings: Iterable[str | bytes]) -> np.ndarray:
        """Return the numbers of strings; new ones get the next ones."""
        texts = [s.decode() if isinstance(s, bytes) else str(s) for s in strings]
        return np.array([self.setdefault(text, len(self)) for text in texts], dtype="int64")


def codes_of(value):
    """Return the variable that stands for a value."""
    return value.codes if isinstance(value, Text) else value
