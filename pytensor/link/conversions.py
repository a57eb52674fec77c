"""Tables of conversions of Ops, which import a module when they meet an Op that it is for.

Most graphs have few kinds of Ops.  A table knows by the names of Ops' classes which modules have
conversions of them, so that neither those Ops nor their conversions are imported for others.
"""

import sys
from collections.abc import Callable, Mapping
from functools import cache, partial, singledispatch, update_wrapper
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from pytensor.graph.op import Op

__all__ = ["Conversions", "import_all", "import_when_met"]

_being_imported: list[str] = []


@cache
def import_all(name: str) -> None:
    """Import a module that registers conversions, and the modules in it if it is a package."""
    _being_imported.append(name)
    try:
        module = import_module(name)
        for inner in iter_modules(getattr(module, "__path__", ())):
            import_module(f"{name}.{inner.name}")
    except ImportError as error:
        # In a tree of PyTensor's there is no graft.
        if (graft := sys.modules.get("pytensor_vision")) is not None:
            error.add_note(graft.explain(name, error))
        raise
    finally:
        _being_imported.pop()


def modules_for(op_class: type, modules: Mapping[str, str]) -> list[str]:
    """Return the modules for a class, by the beginnings of its name and its module's name."""
    name = f"{op_class.__module__}.{op_class.__qualname__}"
    return [module for start, module in modules.items() if name.startswith(start)]


class Conversions:
    """Conversions by the class of an Op, or by a base class of it, which they are called with.

    Parameters
    ----------
    default : callable
        Converts the Ops that have no conversion here.
    modules : dict of str to str, optional
        For beginnings of the names of Ops' classes, as in ``"pytensor.tensor.linalg"``, the module
        or the package that registers their conversions.
    others : dict of str to str, optional
        The same for Ops of packages that may be missing, which `load` leaves out.
    """

    def __init__(
        self, default: Callable, modules: Mapping[str, str] | None = None,
        others: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        found = singledispatch(default)
        self.registry = found.registry
        self._register, self._dispatch = found.register, found.dispatch
        self._modules, self._others = dict(modules or {}), dict(others or {})
        update_wrapper(self, default)

    def register(self, op_class: type, conversion: Callable | None = None) -> Callable:
        """Register the conversion of a class of Ops; without one, return what registers it."""
        if conversion is None:
            return partial(self.register, op_class)
        # A user's own comes first, whenever ours is imported.
        if not (_being_imported and op_class in self.registry):
            self._register(op_class, conversion)
        return conversion

    def dispatch(self, op_class: type) -> Callable:
        """Return the conversion of a class of Ops."""
        for base in op_class.__mro__:
            if base in self.registry:
                break
            for module in modules_for(base, self._modules | self._others):
                import_all(module)
        return self._dispatch(op_class)

    def load(self) -> None:
        """Import all modules, so that `registry` is complete."""
        for module in self._modules.values():
            import_all(module)

    def __call__(self, op: Op, *args: Any, **kwargs: Any) -> Any:
        return self.dispatch(type(op))(op, *args, **kwargs)


def import_when_met(
    table: Any, modules: Mapping[str, str], *general: type
) -> Callable[[type], Callable]:
    """Let a `singledispatch` of PyTensor's import our modules when it meets an Op they are for.

    Parameters
    ----------
    table : function
        Has PyTensor's conversions, which our modules may replace, and gets the conversions of our
        Ops.
    modules : dict of str to str
        As in `Conversions`.
    *general : type
        The base classes of Ops in `modules` that PyTensor has a conversion of.

    Returns
    -------
    callable
        Returns the conversion of a class of Ops, as ``table.dispatch`` does, after the import.
    """
    replaced = [known for known in table.registry if modules_for(known, modules)]
    imported: set[str] = set()

    def importing(before):
        def convert_after_import(op, *args, **kwargs):
            met = table.dispatch(type(op))
            now = dispatch(type(op))
            return (before if now is met else now)(op, *args, **kwargs)

        return convert_after_import

    def dispatch(op_class):
        for base in op_class.__mro__:
            for module in modules_for(base, modules):
                if module not in imported:
                    import_for_table(module)
        return table.dispatch(op_class)

    def import_for_table(module):
        earlier = dict(table.registry)
        import_all(module)
        imported.add(module)
        # A user's own comes first.
        for op_class, conversion in earlier.items():
            if conversion is not as_given.get(op_class):
                table.register(op_class, conversion)

    for op_class in {*general, *replaced}:
        table.register(op_class, importing(table.dispatch(op_class)))
    as_given = dict(table.registry)
    return dispatch
