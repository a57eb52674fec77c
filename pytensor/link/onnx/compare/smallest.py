"""The smallest model that still differs, and a script that shows it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

import onnx
from pytensor.link.onnx.compare.base import Runtime, RuntimeFailure
from pytensor.link.onnx.compare.expected import Difference, Expected
from pytensor.link.onnx.compare.graph import Model
from pytensor.link.onnx.compare.search import Fault

MOST = 3  # nodes


@dataclass
class Smallest:
    """A model of few nodes which a runtime computes wrongly by itself.

    Attributes
    ----------
    proto : onnx.ModelProto
        Its inputs have defaults: the values that were recorded.
    expected : dict of str to ndarray
        What its outputs should be.
    tolerances : dict of str to ndarray
    difference : Difference
    """

    proto: onnx.ModelProto
    inputs: dict[str, np.ndarray]
    expected: dict[str, np.ndarray]
    tolerances: dict[str, np.ndarray]
    difference: Difference


def smallest_model(runtime: Runtime, expected: Expected, fault: Fault) -> Smallest | None:
    """Return the part of at most three nodes that still differs; None if none does."""
    model = expected.model
    values = {**expected.values, **fault.recorded}
    for numbers in _parts(model, fault):
        made = [name for i in numbers for name in model.nodes[i].output if name]
        read = {name for i in numbers for name in model.reads[i]}
        ends = [n for n in made if n not in read or n in model.outputs] or made[-1:]
        proto = model.part(numbers, values, ends)
        inputs = {v.name: values[v.name] for v in proto.graph.input}
        part = Expected(Model(proto), inputs, expected.reader)
        try:
            found = runtime.run(proto, inputs)
        except RuntimeFailure:
            continue
        for name in ends:
            difference = part.check(name, found[name])
            if difference is not None:
                wanted = {n: part.values[n] for n in ends}
                allowed = {n: part.tolerances[n] for n in ends}
                return Smallest(proto, inputs, wanted, allowed, difference)
    return None


def _parts(model: Model, fault: Fault) -> Iterator[list[int]]:
    """Yield sets of nodes around a fault's nodes, the smallest first."""
    around = {*fault.nodes}
    for number in fault.nodes:
        around |= {model.producer[n] for n in model.reads[number] if n in model.producer}
        made = set(model.nodes[number].output)
        around |= {i for i, reads in enumerate(model.reads) if made.intersection(reads)}
    for size in range(1, MOST + 1):
        sets = [list(c) for c in combinations(sorted(around), size) if {*c} & {*fault.nodes}]
        yield from sorted(sets, key=lambda c: -len({*c} & {*fault.nodes}))


def write(smallest: Smallest, script: str, folder: Path) -> None:
    """Write the model, what its outputs should be, and ``show.py``, which runs it, to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(smallest.proto, folder / "model.onnx")
    np.savez(folder / "inputs.npz", **smallest.inputs)
    np.savez(folder / "expected.npz", **smallest.expected)
    np.savez(folder / "tolerances.npz", **smallest.tolerances)
    if not script:  # a function of the caller's
        return
    (folder / "show.py").write_text(
        f"import numpy as np\n{script}"
        'expected, allowed = np.load("expected.npz"), np.load("tolerances.npz")\n'
        "for name, output in zip(expected, outputs):\n"
        '    error = np.abs(output - expected[name].astype("float64"))\n'
        '    print(name, "error", error.max(), "elements", (error > allowed[name]).sum())\n'
    )
