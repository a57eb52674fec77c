"""Tables of converters: of Ops to ONNX, and of ONNX's operators to Ops.

Both are used in one way: ``@table.register(what)`` adds a converter, ``table.dispatch(what)`` finds
it, and ``table.registry`` has those that were added.  Converters of what few graphs have are in
packages of ``pytensor.link.onnx.extras``, which a table loads when it meets such a thing; `load`
loads them all.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache, partial, singledispatch, update_wrapper
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from pytensor.graph.op import Op

_being_loaded: list[str] = []


@cache
def load_extras(name: str) -> None:
    """Import the modules of a package of extras, which register converters, once."""
    package = import_module(f"pytensor.link.onnx.extras.{name}")
    _being_loaded.append(name)
    try:
        for module in iter_modules(package.__path__):
            import_module(f"{package.__name__}.{module.name}")
    finally:
        _being_loaded.pop()


class OpConverters:
    """Converters by the class of an Op, or by a base class of it, which they are called with.

    Parameters
    ----------
    default : callable
        What Ops without a converter are given to.
    extras : dict of str to str, optional
        For beginnings of the names of modules that define Ops, the package of extras that may have
        their converters.
    """

    def __init__(self, default: Callable, extras: Mapping[str, str] | None = None) -> None:
        found = singledispatch(default)
        self.registry = found.registry
        self._register, self._dispatch = found.register, found.dispatch
        self._extras = dict(extras or {})
        update_wrapper(self, default)

    def register(self, op_class: type, converter: Callable | None = None) -> Callable:
        """Register the converter of a class of Ops; without one, return what registers it."""
        if converter is None:
            return partial(self.register, op_class)
        # A user's own comes first, whenever ours is loaded.
        if not (_being_loaded and op_class in self.registry):
            self._register(op_class, converter)
        return converter

    def dispatch(self, op_class: type) -> Callable:
        """Return the converter of a class of Ops."""
        for base in op_class.__mro__:
            if base in self.registry:
                break
            for start, name in self._extras.items():
                if base.__module__.startswith(start):
                    load_extras(name)
        return self._dispatch(op_class)

    def load(self) -> None:
        """Load all extras, so that `registry` is complete."""
        for name in self._extras.values():
            load_extras(name)

    def __call__(self, op: Op, *arguments: Any) -> Any:
        return self.dispatch(type(op))(op, *arguments)


class OperatorConverters:
    """Converters by the name of an ONNX operator, which are called with a node that is read.

    Parameters
    ----------
    adapt : callable, optional
        What makes a converter of a function that is registered.
    extras : str, optional
        The package of extras that may have other operators.
    """

    def __init__(self, adapt: Callable | None = None, extras: str | None = None) -> None:
        self._adapt = adapt or (lambda function: function)
        self._extras = extras
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
            converter = self._adapt(function)
            for op_type in op_types:
                if before is None:
                    found, key = self.registry, (domain, op_type)
                else:
                    found, key = self._older[domain, op_type], before
                if key in found:
                    raise ValueError(f"there are two converters of {op_type} of {domain!r}")
                found[key] = converter
            return function

        return add

    def dispatch(self, op_type: str, domain: str = "", opset: int | None = None) -> Callable | None:
        """Return the converter of an operator in an opset, by default the newest, or None."""
        key = domain, op_type
        if key not in self.registry:
            self.load()
        older = self._older.get(key, {}) if opset is not None else {}
        later = [before for before in older if opset < before]
        return older[min(later)] if later else self.registry.get(key)

    def forms(self, op_type: str, domain: str = "") -> dict[int | None, Callable]:
        """Return an operator's converters by the opset `before` which each holds, or None."""
        newest = {None: self.registry[domain, op_type]}
        return dict(sorted(self._older.get((domain, op_type), {}).items())) | newest

    def load(self) -> None:
        """Load all extras, so that `registry` is complete."""
        if self._extras is not None:
            load_extras(self._extras)
