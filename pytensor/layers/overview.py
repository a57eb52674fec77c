"""A table of a network's layers."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

import pytensor
import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import applys_between
from pytensor.layers.module import Module, walk
from pytensor.scan.op import Scan
from pytensor.tensor.conv.ops import Conv, ConvTranspose
from pytensor.tensor.math import Dot
from pytensor.tensor.recurrent import Recurrent
from pytensor.tensor.variable import TensorVariable

type Calls = list[tuple[Module, list[Any], Any]]


def summary(module: Module, *inputs: Sequence[int] | TensorVariable) -> str:
    """Return a table of a module's layers: output shapes, parameters and multiply-adds.

    Parameters
    ----------
    module : Module
    *inputs : sequence of int, or TensorVariable
        What it is called with: shapes of inputs of dtype floatX, or variables of known shapes.

    Returns
    -------
    str
        A line for each call of a module that has parameters itself.  Multiply-adds count
        convolutions and matrix products; where a scan has some, "?" is written.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor import layers
    >>> net = layers.Sequential(layers.Linear(4, 16), pt.nn.relu, layers.Linear(16, 3))
    >>> print(layers.summary(net, (8, 4)))
    layer  kind        output   parameters  multiply-adds
    0      Linear      (8, 16)          80            512
    2      Linear      (8, 3)           51            384
    total  Sequential  (8, 3)          131            896
    """
    variables = [v if isinstance(v, Variable) else pt.tensor(shape=tuple(v)) for v in inputs]
    names = {id(part): path for path, part in reversed([*walk(module)])}  # the first path
    with _recording(module) as calls:
        try:
            module(*variables)
        except (TypeError, ValueError) as error:
            shapes = tuple(v.type.shape for v in variables)
            raise ValueError(
                f"summary: shapes {shapes}, which must include the batch, don't fit: {error}"
            ) from error
    *_, (_, _, result) = calls
    rows: list[tuple[str, Module, int, Any, list[Apply]]] = []
    counted: set[Apply] = set()
    for part, arguments, out in calls:
        own = [v for v in part.parameters() if names[id(v)].rpartition(".")[0] == names[id(part)]]
        nodes = [n for n in applys_between(_flat(arguments), _flat(out)) if n not in counted]
        counted.update(nodes)
        if own:
            rows.append((names[id(part)], part, _size(own), _flat(out)[0], nodes))
    rows.append(("total", module, _size(module.parameters()), _flat(result)[0], [*counted]))
    adds = [_multiply_adds(nodes) for *_, nodes in rows]
    asked = [v for row, number in zip(rows, adds, strict=True) for v in (row[3].shape, number)]
    values = [np.zeros(v.type.shape, v.type.dtype) for v in variables]
    evaluate = pytensor.function(variables, asked, mode="FAST_COMPILE", on_unused_input="ignore")
    found = evaluate(*values)
    table = [("layer", "kind", "output", "parameters", "multiply-adds")]
    for (name, part, size, *_), shape, number in zip(rows, found[::2], found[1::2], strict=True):
        shape, number = tuple(shape.tolist()), int(number)
        total = "?" if number < 0 else f"{number:,}"
        table.append((name, type(part).__name__, str(shape), f"{size:,}", total))
    return _aligned(table)


def _flat(value: Any) -> list[Variable]:
    """Return the variables in what a module takes or returns."""
    if isinstance(value, list | tuple):
        return [part for each in value for part in _flat(each)]
    return [value] if isinstance(value, Variable) else []


def _size(variables: list[Any]) -> int:
    return sum(v.get_value(borrow=True).size for v in variables)


@contextmanager
def _recording(module: Module) -> Iterator[Calls]:
    """Yield a list to which each call of a part is added when it ends: inner ones come first."""
    calls: Calls = []
    running: list[Module] = []

    def recorded(call: Any) -> Any:
        def wrapper(part: Module, *args: Any, **kwargs: Any) -> Any:
            if running and running[-1] is part:  # by super().__call__
                return call(part, *args, **kwargs)
            running.append(part)
            out = call(part, *args, **kwargs)
            calls.append((running.pop(), [*args, *kwargs.values()], out))
            return out

        return wrapper

    kinds = {type(part) for part in module.modules()}
    with ExitStack() as stack:
        for kind in kinds:
            stack.enter_context(patch.object(kind, "__call__", recorded(kind.__call__)))
        yield calls


def _multiply_adds(nodes: list[Apply]) -> Any:
    """Return how many there are in nodes, symbolically, or -1 where they are not known."""
    total: Any = pt.constant(0)
    for node in nodes:
        op = getattr(node.op, "core_op", node.op)
        if isinstance(op, Scan):
            return pt.constant(-1)
        if isinstance(op, Recurrent):
            x, *rest = map(pt.as_tensor_variable, node.inputs)
            weights = [v.size for v in rest if v.type.ndim == 2][:2]  # the states come later
            total += x.shape[0] * x.shape[1] * pt.add(*weights)
        if isinstance(op, Conv | ConvTranspose | Dot):
            first, second = (pt.as_tensor_variable(v) for v in node.inputs[:2])
            out = pt.as_tensor_variable(node.outputs[0])
            if isinstance(op, Dot):
                total += out.size * first.shape[-1]
            else:
                image = first if isinstance(op, ConvTranspose) else out
                total += image.size * pt.prod(second.shape[1:])
    return total


def _aligned(table: Sequence[tuple[str, ...]]) -> str:
    """Return lines whose columns are aligned, the numbers on the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = [
            cell.rjust(width) if place > 2 else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
