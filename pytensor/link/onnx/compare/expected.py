"""Computes what each value of a model should be, and how far rounding of all nodes moves it.

Every node is computed in double precision from what the nodes before it gave, and rounded once to
its dtype: no implementation can do better with the same dtypes.  The walk is repeated with a random
error at every node, up to the node's own bound (`exact`): what the values move by then is what
rounding may do to them, as a network enlarges it, where a comparison or a rounding flips too.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

import onnx
from onnx.helper import tensor_dtype_to_np_dtype
from pytensor.link.onnx.compare.exact import ExactNodes, Judged, distance, is_float, limits
from pytensor.link.onnx.compare.graph import Model

WALKS = 2
FACTOR = 2  # of the largest movement that the walks saw
MANY = 16  # elements that are enough to say how far one of them may move


@dataclass
class Difference:
    """How a result differs from what it should be.

    Attributes
    ----------
    error, allowed : float
        Where the error exceeds what is allowed by most: both.
    share : float
        Of the elements, those that exceed what is allowed.
    what : str
        In words, where shape or dtype differ.
    """

    error: float
    allowed: float
    share: float
    what: str = ""

    def __str__(self) -> str:
        if self.what:
            return self.what
        times = f", {self.error / self.allowed:.3g} times that" if self.allowed else ""
        return (
            f"error {self.error:.3g}, allowed {self.allowed:.3g}{times}; in {self.share:.1%} "
            f"of the elements"
        )


def difference(
    result: np.ndarray, value: np.ndarray, allowed: np.ndarray, dtype: str
) -> Difference | None:
    """Compare a runtime's result with a value; None if all errors are allowed."""
    if (result.dtype.name, result.shape) != (dtype, value.shape):
        text = f"{result.dtype.name}{list(result.shape)} instead of {dtype}{list(value.shape)}"
        return Difference(np.inf, 0, 1, text)
    error = distance(result, value)
    if is_float(dtype):
        # What rounds to infinity, or by its error might
        largest = float(limits(dtype).max)
        with np.errstate(invalid="ignore"):
            beyond = np.isinf(result) & (np.sign(result) * value + allowed >= largest)
        error = np.where(beyond, 0, error)
    wrong = error > allowed
    if not wrong.any():
        return None
    # By most: by what it is of what is allowed, or where that is nothing, as it is
    with np.errstate(over="ignore"):
        excess = error[wrong] / np.maximum(allowed[wrong], np.finfo("float64").tiny)
    worst = np.argmax(excess)
    return Difference(float(error[wrong][worst]), float(allowed[wrong][worst]), float(wrong.mean()))


class Expected:
    """Hold what a model's values should be for these inputs.

    Attributes
    ----------
    values : dict of str to ndarray
        In the model's dtypes.
    tolerances : dict of str to ndarray
        How far each may be off when every node before it rounds, float64.
    """

    def __init__(
        self, model: Model, inputs: Mapping[str, np.ndarray], reader: ExactNodes | None = None
    ) -> None:
        self.model = model
        self.reader = reader or ExactNodes(model.opsets)
        self.values: dict[str, np.ndarray] = {**model.constants, **inputs}
        self.tolerances: dict[str, np.ndarray] = {}
        bounds: dict[str, np.ndarray] = {}
        for node, reads in zip(model.nodes, model.reads, strict=True):
            judged = self.reader.judge(node, [self.values[name] for name in reads])
            for name, one in zip(filter(None, node.output), judged, strict=True):
                self.values[name] = _rounded(one.value, one.dtype)
                bounds[name] = self.tolerances[name] = np.asarray(one.bound)
        moved = [self._walk(bounds, seed) for seed in range(WALKS)]
        for name, bound in bounds.items():
            gaps = [walk[name] for walk in moved if name in walk]
            if gaps:
                largest = np.maximum.reduce([_pooled(gap) for gap in gaps])
                self.tolerances[name] = FACTOR * largest + bound

    def _walk(self, bounds: Mapping[str, np.ndarray], seed: int) -> dict[str, np.ndarray]:
        """Return how far values move, of which no others move, when every node errs."""
        rng = np.random.default_rng(seed)
        moved: dict[str, np.ndarray] = {}
        gaps = {}
        for node, reads in zip(self.model.nodes, self.model.reads, strict=True):
            names = [name for name in node.output if name]
            erring = any(np.any(bounds[name]) for name in names)
            if not erring and not moved.keys() & set(reads):
                continue
            given = [moved.get(name, self.values[name]) for name in reads]
            if moved.keys() & set(reads):
                judged = self.reader.judge(node, given, bounded=False)
            else:
                judged = [Judged(self.values[n], self.values[n].dtype.name, None) for n in names]
            for name, one in zip(names, judged, strict=True):
                value = one.value
                if value.shape != self.values[name].shape:
                    gaps[name] = np.full(self.values[name].shape, np.inf)
                    moved[name] = _rounded(value, one.dtype)
                    continue
                if is_float(one.dtype):
                    bound = np.where(np.isfinite(bounds[name]), bounds[name], 0)
                    value = value.astype("float64") + bound * rng.uniform(-1, 1, value.shape)
                value = _rounded(value, one.dtype)
                if not np.array_equal(value, self.values[name], equal_nan=is_float(one.dtype)):
                    moved[name] = value
                    gaps[name] = distance(value, self.values[name])
        return gaps

    def check(self, name: str, result: np.ndarray) -> Difference | None:
        """Compare a runtime's value with what it should be."""
        value = self.values[name]
        allowed = self.tolerances.get(name, np.zeros(value.shape))
        return difference(result, value, allowed, value.dtype.name)

    def check_node(
        self, number: int, recorded: Mapping[str, np.ndarray]
    ) -> tuple[str, Difference] | None:
        """Compare what a runtime's node made of its recorded inputs with what it should make.

        Returns the first output that differs, and how.
        """
        node = self.model.nodes[number]
        given = [recorded[name] for name in self.model.reads[number]]
        names = [name for name in node.output if name]
        for name, one in zip(names, self.reader.judge(node, given), strict=True):
            if name in recorded and one.bound is not None:
                found = difference(recorded[name], one.value, one.bound, one.dtype)
                if found is not None:
                    return name, found
        return None

    def used(self, name: str, result: np.ndarray) -> float:
        """Return how much of what is allowed a runtime's value uses, at most, where it's right."""
        value = self.values[name]
        if value.shape != result.shape or not value.size:
            return 0.0
        error = distance(result, value)
        allowed = np.broadcast_to(self.tolerances.get(name, np.zeros(())), error.shape)
        inexact = (error > 0) & np.isfinite(error)
        return float((error[inexact] / allowed[inexact]).max(initial=0))


def _rounded(values: np.ndarray, dtype: str) -> np.ndarray:
    """Return values in another dtype, infinite where they are beyond it."""
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dtype)


def _pooled(gap: np.ndarray) -> np.ndarray:
    """Return, for each element, the least of the largest movements that its rows have, by axes.

    Two walks say little of one element; elements of a channel, for example, move similarly.
    """
    most = np.full(gap.shape, gap.max(initial=0))
    for axis, length in enumerate(gap.shape):
        if length > 1 and gap.size // length >= MANY:
            others = tuple(a for a in range(gap.ndim) if a != axis)
            most = np.minimum(most, gap.max(axis=others, keepdims=True))
    return most


def rounding_error(
    model: str | os.PathLike[str] | bytes | onnx.ModelProto, inputs: Mapping[str, ArrayLike]
) -> dict[str, np.ndarray]:
    """Compute how far rounding may move the outputs of a model.

    A network can enlarge rounding errors until no fixed tolerance tells them from a wrong result.
    An output that differs from PyTensor's by no more than this isn't known to be wrong. Nodes are
    computed one by one: 13 s of processor time (AMD EPYC) for the detector at 320 by 320 pixels.

    Parameters
    ----------
    model : onnx.ModelProto, bytes or path
    inputs : dict of str to array

    Returns
    -------
    dict of str to ndarray
        For each output its largest absolute error, float64; infinite where it may be anything.

    Raises
    ------
    ComparisonError
        If the model has a node that can't be read, or that draws random numbers.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor.link.onnx import export_onnx, rounding_error
    >>> x = pt.scalar("x", dtype="float32")
    >>> model = export_onnx([x], [pt.sqrt(x)], output_names=["root"])
    >>> bool(0 < rounding_error(model, {"x": 2.0})["root"] < 1e-6)
    True
    """
    read = Model.read(model)
    types = {v.name: v.type.tensor_type.elem_type for v in read.proto.graph.input}
    given = {k: np.asarray(v, tensor_dtype_to_np_dtype(types[k])) for k, v in inputs.items()}
    expected = Expected(read, given)
    exact = np.zeros(())  # inputs and constants
    return {name: expected.tolerances.get(name, exact) for name in read.outputs}
