"""Tables of converters: of Ops to ONNX, and of ONNX's operators to Ops.

Both are used in one way: ``@table.register(what)`` adds a converter, ``table.dispatch(what)`` finds
it, and ``table.registry`` has all of them.
"""

from collections import defaultdict
from collections.abc import Callable
from functools import singledispatch, update_wrapper
from typing import Any

from pytensor.graph.op import Op


class OpConverters:
    """Converters by the class of an Op, or by a base class of it, which they are called with.

    Parameters
    ----------
    default : callable
        What Ops without a converter are given to.
    """

    def __init__(self, default: Callable) -> None:
        found = singledispatch(default)
        self.register = found.register
        self.registry = found.registry
        self._dispatch = found.dispatch
        update_wrapper(self, default)

    def dispatch(self, op_class: type[Op]) -> Callable:
        """Return the converter of a class of Ops."""
        return self._dispatch(op_class)

    def __call__(self, op: Op, *arguments: Any) -> Any:
        return self.dispatch(type(op))(op, *arguments)


class OperatorConverters:
    """Converters by the name of an ONNX operator, which are called with a node that is read."""

    def __init__(self) -> None:
        self.registry: dict[tuple[str, str], Callable] = {}
        self._older: dict[tuple[str, str], dict[int, Callable]] = defaultdict(dict)

    def register(self, *op_types: str, domain: str = "", before: int | None = None) -> Callable:
        """Return what registers a converter of operators, in opsets `before` one if it is given.

        Raises
        ------
        ValueError
            If an operator has one already.
        """

        def add(function):
            for op_type in op_types:
                if before is None:
                    found, key = self.registry, (domain, op_type)
                else:
                    found, key = self._older[domain, op_type], before
                if key in found:
                    raise ValueError(f"there are two converters of {op_type} of {domain!r}")
                found[key] = function
            return function

        return add

    def dispatch(self, op_type: str, domain: str = "", opset: int | None = None) -> Callable | None:
        """Return the converter of an operator in an opset, by default the newest, or None."""
        key = domain, op_type
        older = self._older.get(key, {}) if opset is not None else {}
        later = [before for before in older if opset < before]
        return older[min(later)] if later else self.registry.get(key)
