"""Converters of ONNX's operators to Ops, by name and opset.

`pytensor.link.conversions.Conversions` has the converters of Ops to ONNX, by the same methods:
``@table.register(...)`` adds a converter, ``table.dispatch(...)`` finds it, and ``table.registry``
has all that were added.  Converters that few graphs need are in packages of
``pytensor.link.onnx.extras``, which a table imports when it meets such an Op or operator; `load`
imports them all.
"""

from collections import defaultdict
from collections.abc import Callable

from pytensor.link.conversions import import_all


class OperatorConverters:
    """Converters by the name of an ONNX operator, which are called with a node that is read.

    Parameters
    ----------
    adapt : callable, optional
        What makes a converter of a function that is registered.
    extras : str, optional
        The package that may have other operators.
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
        """Import all extras, so that `registry` is complete."""
        if self._extras is not None:
            import_all(self._extras)
