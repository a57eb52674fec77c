"""All Ops that the package defines."""

import importlib
from pathlib import Path

from pytensor.graph.op import Op
from pytensor.graph.traversal import ancestors
from pytensor.scalar import ScalarOp
from pytensor.tensor.blockwise import Blockwise

ROOT = Path(__file__).parents[2] / "pytensor"


def is_ours(op):
    """Return whether an Op, or what a `Blockwise` repeats, is one of the package's."""
    return _is_of_the_package(type(getattr(op, "core_op", op)))


def _is_of_the_package(op_class):
    # By name: in PyTensor's own tree our modules lie in another folder than this checkout's.
    place = ROOT.parent / op_class.__module__.replace(".", "/")
    files = place.with_suffix(".py"), place / "__init__.py"
    return ROOT in place.parents and any(file.exists() for file in files)


def repeated(outputs):
    """Return the Ops of ours that a `Blockwise` repeats, of all that outputs are made of."""
    nodes = {v.owner for v in ancestors(outputs) if v.owner is not None}
    return [n.op for n in nodes if isinstance(n.op, Blockwise) and is_ours(n.op)]


def op_classes():
    """Return every class of Ops on tensors, of modules that can be imported here."""
    for path in sorted(ROOT.rglob("*.py")):
        if path.name in ("__extend__.py", "__main__.py"):
            continue
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name.partition(".")[0] not in ("torch", "mlx", "pytensor_ml"):
                raise
    found, waiting = set(), [Op]
    while waiting:
        for each in waiting.pop().__subclasses__():
            if each not in found:
                found.add(each)
                waiting.append(each)
    ours = filter(_is_of_the_package, found)
    return sorted((c for c in ours if not issubclass(c, ScalarOp)), key=lambda c: c.__qualname__)
