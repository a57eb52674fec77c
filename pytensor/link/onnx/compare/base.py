"""Defines a runtime: it runs a model on inputs."""

from collections.abc import Mapping

import numpy as np

import onnx

Values = dict[str, np.ndarray]


class RuntimeFailure(Exception):
    """A runtime doesn't run the model; the message is the runtime's own."""


class Runtime:
    """Something that computes a model's outputs.

    Attributes
    ----------
    name : str
    """

    # Lines of Python that show the outputs of the model in a file, for `smallest`
    script = ""

    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, proto: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> Values:
        """Return a model's outputs by name.

        Raises
        ------
        RuntimeFailure
            If it doesn't run.
        """
        raise NotImplementedError

    def close(self) -> None:
        """End what was started for it."""
