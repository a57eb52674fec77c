"""Extend PyTensor's packages as they are imported.

PyTensor's own modules and names win.  Where it has one that we have too, one warning says so when
PyTensor is imported, and how to get ours: below ``pytensor_vision.pytensor`` each of our modules
has its own place.  What PyTensor's module of the same name lacks, it takes from ours.

A part of ours that can't be loaded, with a PyTensor that is too old or too new, never keeps
PyTensor itself from loading: its names, its modes and the conversions of its Ops say why they
aren't there when they are asked for.

An extension may have a dict ``LAZY``, too: names that its own ``__getattr__`` loads when they are
asked for.  Those are PyTensor's to win as well, and come into no ``import *``.

One plain module is executed in another way: ``pytensor.configdefaults``, whose lists of modes and
linkers admit no other (see ``pytensor_vision.modes``).
"""

import importlib
import os
import warnings
from contextlib import nullcontext
from functools import cache, partial
from importlib.machinery import EXTENSION_SUFFIXES
from types import ModuleType

from pytensor_vision.state import HOME, REQUIRED, explain, extended, failures

# Our modules whose place a module of PyTensor's has, and names that PyTensor has itself, with the
# module that ours is from.
hidden_modules: set[str] = set()
hidden_names: dict[str, str] = {}


def extend(spec):
    """Append our directory to the `__path__` of a package, and what we add to its execution."""
    name = spec.name
    if spec.origin is None or _is_ours(spec.origin):
        return
    locations = spec.submodule_search_locations or []
    if name == "pytensor":
        extended.add("pytensor.configdefaults")
        for location in locations:
            _compare(name, location, os.path.join(HOME, name))
    ours = _contents(os.path.join(HOME, *name.split("."))) if locations else frozenset()
    if ours:
        locations.append(os.path.join(HOME, *name.split(".")))
    if "__extend__.py" in ours:
        _run_after(spec, _add_names)
    if name in hidden_modules:
        _run_after(spec, _answer_for_missing_names)
    if name == "pytensor":
        _run_after(spec, _warn)
    elif name == "pytensor.configdefaults":
        _replace(spec, _execute_knowing_onnx)


def _is_ours(path):
    return path.startswith(os.path.join(HOME, "pytensor", ""))


@cache
def _contents(directory):
    """Return the names in a directory, which may lie in the zip file of this module."""
    try:
        return frozenset(os.listdir(directory))
    except OSError:
        if not directory.startswith(HOME) or not hasattr(__loader__, "archive"):
            return frozenset()
        archive = os.path.abspath(__loader__.archive)
        inside = directory[len(archive) + 1 :].replace(os.sep, "/") + "/"
        names = (name for name in _names_in_zip(archive) if name.startswith(inside))
        return frozenset(name[len(inside) :].partition("/")[0] for name in names)


@cache
def _names_in_zip(archive):
    from zipfile import ZipFile

    with ZipFile(archive) as file:
        return file.namelist()


def _compare(package, theirs, ours):
    """Note the packages that our directory extends, and the modules that both directories have."""
    extended.add(package)
    there = {entry.partition(".")[0] for entry in _contents(theirs)}
    for stem in {entry.partition(".")[0] for entry in _contents(ours)}:
        if not stem.startswith("__"):
            name, is_ours = f"{package}.{stem}", _has_module(ours, stem)
            is_theirs = stem in there and _has_module(theirs, stem)
            if is_ours and is_theirs:
                hidden_modules.add(name)
            if is_theirs or not is_ours:
                _compare(name, os.path.join(theirs, stem), os.path.join(ours, stem))


def _has_module(directory, stem):
    files = _contents(directory)
    return any(stem + suffix in files for suffix in (".py", *EXTENSION_SUFFIXES)) or (
        stem in files and "__init__.py" in _contents(os.path.join(directory, stem))
    )


def _replace(spec, run):
    """Have the loader of one module call `run(execute, module)` in the place of `execute(module)`.

    The method is replaced on this one loader instance, so that tools which look at the loader's
    type (pickle, inspect, importlib.resources) see what they would see without the graft.
    """
    execute = spec.loader.exec_module

    def exec_module(module):
        # A zip file has one loader for all modules in it.
        run(execute, module) if module.__name__ == spec.name else execute(module)

    spec.loader.exec_module = exec_module


def _run_after(spec, then):
    """Have the loader of one module call `then(module)` after it has executed the module."""

    def run(execute, module):
        execute(module)
        then(module)

    _replace(spec, run)


def _execute_knowing_onnx(execute, module):
    """Execute ``pytensor.configdefaults`` such that ONNX is a mode."""
    try:
        from pytensor_vision.modes import onnx_is_known
    except Exception as error:
        onnx_is_known = nullcontext
        failures[module.__name__] = explain(module.__name__, error)
    try:
        with onnx_is_known():
            execute(module)
    except Exception as error:
        if module.__name__ in failures:
            error.add_note(failures[module.__name__])
        raise


def _add_names(module):
    """Import ``__extend__`` of a package, and set its names where the package has no other."""
    package = module.__name__
    before = dict(vars(module))
    try:
        extension = importlib.import_module(f"{package}.__extend__")
    except Exception as error:
        _raise_when_asked(module, error)
    else:
        for name in extension.__all__:
            if name not in before and name not in vars(extension):
                continue  # it is loaded when it is asked for
            ours, theirs = getattr(extension, name), before.get(name)
            if name in before and theirs is not ours and not _is_our_module(theirs):
                hidden_names[f"{package}.{name}"] = ours.__module__
            else:
                setattr(module, name, ours)
        if hasattr(extension, "LAZY"):
            _load_when_asked(module, extension)
        if extension.__all__ and hasattr(module, "__all__"):
            module.__all__ = [*dict.fromkeys([*module.__all__, *extension.__all__])]


def _load_when_asked(module, extension):
    """Have a package answer with the names in its extension's ``LAZY``, which that loads."""
    package, upstream = module.__name__, getattr(module, "__getattr__", None)

    def __getattr__(name):
        if name in extension.LAZY:
            try:
                return getattr(extension, name)
            except Exception as error:
                message = failures[package] = explain(package, error)
                raise ImportError(f"{package}.{name}: {message}", name=package) from error
        if upstream is not None:
            return upstream(name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    module.__getattr__ = __getattr__
    module.__dir__ = lambda: sorted({*vars(module), *extension.LAZY})


def _is_our_module(value):
    return isinstance(value, ModuleType) and _is_ours(getattr(value, "__file__", None) or "")


def _answer_for_missing_names(module):
    """Have a module of PyTensor's, which hides ours, answer with ours for names that it lacks."""
    name, upstream = module.__name__, getattr(module, "__getattr__", None)
    missing = f"module {name!r} has no attribute "

    def __getattr__(attribute):
        if upstream is not None:
            try:
                return upstream(attribute)
            except AttributeError:
                pass
        if attribute.startswith("__"):
            raise AttributeError(f"{missing}{attribute!r}")
        try:
            return getattr(importlib.import_module(f"pytensor_vision.{name}"), attribute)
        except AttributeError:
            raise AttributeError(f"{missing}{attribute!r}") from None
        except ImportError as error:
            raise AttributeError(f"{missing}{attribute!r}, and {explain(name, error)}") from error

    module.__getattr__ = __getattr__


def _warn(module):
    """Say, once PyTensor is imported, what of ours its own modules and names hide."""
    ways = {name: f"import pytensor_vision.{name}" for name in sorted(hidden_modules)}
    for name, source in sorted(hidden_names.items()):
        ways[name] = f"from {source} import {name.rpartition('.')[2]}"
    if ways:
        shown, more = [*ways][:5], len(ways) - 5
        names = ", ".join(shown) + (f" and {more} more" if more > 0 else "")
        version = getattr(module, "__version__", "of an unknown version")
        warnings.warn(
            f"PyTensor {version} has {names} itself, and keeps its own; pytensor-vision, which is "
            f"for {REQUIRED}, has others: {'; '.join(ways[name] for name in shown)}",
            stacklevel=4,
        )


def _raise_when_asked(module, error):
    """Make what an extension would have added to `module` raise the reason why it isn't there."""
    package = module.__name__
    message = failures[package] = explain(package, error)
    names = _names_of_extension(package)
    upstream = getattr(module, "__getattr__", None)

    def __getattr__(name):
        if name in names:
            # An AttributeError's text would be lost in "from package import name".
            raise ImportError(f"{package}.{name}: {message}", name=package) from error
        if upstream is not None:
            return upstream(name)
        raise AttributeError(f"module {package!r} has no attribute {name!r} (and {message})")

    module.__getattr__ = __getattr__
    for name, function in list(vars(module).items()):
        if name.endswith("_funcify") and hasattr(function, "dispatch"):
            function.register(object, partial(_convert, function.dispatch(object), message))
    if package == "pytensor.compile":
        mode = getattr(module, "mode", None)
        getattr(mode, "predefined_modes", {})["ONNX"] = _NotLoaded(message)
        getattr(mode, "predefined_linkers", {})["onnx"] = _NotLoaded(message)


def _names_of_extension(package):
    """Return the names in the ``__all__`` of a package's extension, which isn't executed."""
    import ast
    from importlib.util import find_spec

    loader = find_spec(f"{package}.__extend__").loader
    statements = ast.parse(loader.get_source(f"{package}.__extend__")).body
    return {
        name
        for statement in statements
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__"
        for name in ast.literal_eval(statement.value)
    }


def _convert(convert, message, *arguments, **keywords):
    """Convert an Op that has no conversion; the error says that ours may be missing."""
    try:
        return convert(*arguments, **keywords)
    except NotImplementedError as error:
        raise NotImplementedError(
            f"{error}\nIf it is an Op of pytensor-vision: {message}"
        ) from error


class _NotLoaded:
    """Stand for a mode or a linker that couldn't be loaded."""

    def __init__(self, message):
        self._message = message

    def __getattr__(self, name):
        raise ImportError(self._message)
