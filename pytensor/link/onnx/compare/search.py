"""The search for the first node that a runtime computes wrongly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pytensor.link.onnx.compare.base import Runtime, RuntimeFailure
from pytensor.link.onnx.compare.expected import Difference, Expected

PROBES = 4  # extra outputs at a time
SWEPT = 8  # nodes at a time, where no probe is beyond its tolerance
NEAR = 3  # nodes between a value whose exposure hides a fault, and others that may


@dataclass
class Fault:
    """What a runtime computes wrongly.

    Attributes
    ----------
    nodes : list of int
        The numbers of the nodes: one, or a fusion's, that isn't made where a value between
        them is an output; the first is the first in topological order.
    difference : Difference
        Of the node's output, from what it should make of the inputs that it got; of a fusion, of
        the last value that is wrong.
    output : str
        That value.
    fused : bool
        The fault vanishes when values between the nodes are asked for.
    recorded : dict of str to ndarray
        What the runtime gave of the values that were asked for.
    """

    nodes: list[int]
    difference: Difference
    output: str
    fused: bool = False
    recorded: dict[str, np.ndarray] = field(default_factory=dict, repr=False)


@dataclass
class Grown:
    """Outputs beyond their tolerance, though no node exceeds its bound: rounding, enlarged."""

    output: str
    difference: Difference


class Search:
    """Looks for a runtime's first fault, with few extra outputs at a time."""

    def __init__(
        self, runtime: Runtime, expected: Expected, inputs: Mapping[str, np.ndarray]
    ) -> None:
        self.runtime, self.expected, self.inputs = runtime, expected, inputs
        self.model = expected.model

    def record(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Return values of the runtime, and the model's outputs, and the inputs."""
        found = self.runtime.run(self.model.with_outputs(names), self.inputs)
        return {**self.model.constants, **self.inputs, **found}

    def differs(self, values: Mapping[str, np.ndarray], name: str) -> Difference | None:
        """Compare a recorded value with what it should be."""
        return self.expected.check(name, values[name])

    def find(self, values: Mapping[str, np.ndarray]) -> Fault | Grown | None:
        """Return the first fault, given the untouched outputs; None if all are within tolerance."""
        wrong = [n for n in self.model.outputs if self.differs(values, n)]
        if not wrong:
            return None
        first = min(wrong, key=lambda name: self.model.producer.get(name, -1))
        return self._narrow(first, values)

    def _narrow(self, wrong: str, values: Mapping[str, np.ndarray]) -> Fault | Grown:
        """Move from a wrong value to a wrong value before it, until none is."""
        cleared: set[int] = set()
        while True:
            makes = self.model.producer[wrong]
            left = sorted(self.model.ancestors([wrong]) - cleared - {makes})
            # A constant is the file's own
            left = [i for i in left if self.model.nodes[i].op_type != "Constant"]
            if not left:
                return self._settle(wrong, values)
            step = max(len(left) // PROBES, 1)
            chosen = left[::-1][step // 2 :: step][:PROBES]
            probes = {self._main_output(i): i for i in chosen}
            found = self._try([*probes, wrong])
            if found is None:
                cleared |= {*chosen}
                continue
            if not self.differs(found, wrong):
                return self._fusion(wrong, values, [*probes])
            values = found
            beyond = [name for name in probes if self.differs(found, name)]
            if beyond:
                wrong = min(beyond, key=probes.__getitem__)
            for name in probes:
                if name not in beyond:
                    cleared |= self.model.ancestors([name])

    def _try(self, names: Sequence[str]) -> dict[str, np.ndarray] | None:
        """Record values; None where the runtime can't give them, as for other types."""
        try:
            return self.record(names)
        except RuntimeFailure:
            return None

    def _main_output(self, number: int) -> str:
        return next(name for name in self.model.nodes[number].output if name)

    def _neighbourhood(self, number: int) -> list[str]:
        """Return what a node reads of other nodes, and what it makes."""
        node = self.model.nodes[number]
        return [n for n in (*self.model.reads[number], *node.output) if n in self.model.producer]

    def _settle(self, wrong: str, values: Mapping[str, np.ndarray]) -> Fault | Grown:
        """Check the node of a wrong value, before which nothing is wrong, from its own inputs."""
        number = self.model.producer[wrong]
        found = self.record([*self._neighbourhood(number), wrong])
        if not self.differs(found, wrong):
            return self._fusion(wrong, values, self._neighbourhood(number))
        if checked := self.expected.check_node(number, found):
            return Fault([number], checked[1], checked[0], recorded=found)
        return self._sweep(wrong, values)

    def _sweep(self, wrong: str, values: Mapping[str, np.ndarray]) -> Fault | Grown:
        """Check every node before a wrong value from its own inputs."""
        numbers = sorted(self.model.ancestors([wrong]))
        for start in range(0, len(numbers), SWEPT):
            group = numbers[start : start + SWEPT]
            names = list(dict.fromkeys(n for i in group for n in self._neighbourhood(i)))
            found = self._try(names)
            for number in group if found else ():
                if checked := self.expected.check_node(number, found):
                    return Fault([number], checked[1], checked[0], recorded=found)
        difference = self.differs(values, wrong)
        assert difference is not None
        return Grown(wrong, difference)

    def _hides(self, name: str, wrong: str) -> bool:
        """Return whether a value's being an output makes another right."""
        found = self._try([name, wrong])
        return found is not None and not self.differs(found, wrong)

    def _fusion(self, wrong: str, values: Mapping[str, np.ndarray], probes: Sequence[str]) -> Fault:
        """Find the nodes of a fusion that is wrong: between them lie values that hide the fault."""
        inner = [name for name in probes if name != wrong and self._hides(name, wrong)]
        tried = {*probes, wrong}
        for _ in range(NEAR if inner else 0):
            near = {n for name in inner for n in self._around(name)} - tried
            tried |= near
            inner += [name for name in sorted(near) if self._hides(name, wrong)]
        within = set(inner or probes)
        makers = {self.model.producer[name] for name in within}
        readers = {i for i, reads in enumerate(self.model.reads) if within.intersection(reads)}
        nodes = sorted(makers | readers)
        difference = self.differs(values, wrong)
        assert difference is not None
        return Fault(nodes, difference, wrong, fused=True, recorded=dict(values))

    def _around(self, name: str) -> list[str]:
        """Return values that are one node away from one."""
        numbers = [i for i, reads in enumerate(self.model.reads) if name in reads]
        return [n for i in (self.model.producer[name], *numbers) for n in self._neighbourhood(i)]
