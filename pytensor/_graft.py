"""Graft this distribution's modules onto the ``pytensor`` package.

The file is installed as the top-level module ``_pytensor_graft`` (a copy, in an editable
installation too), and a ``.pth`` file imports it at interpreter start.  It adds one meta-path
finder.  Whenever an upstream package ``pytensor`` or ``pytensor.*`` is imported,

1. the same-named directories of ours join its ``__path__``, so that ``pytensor.tensor.conv`` and
   the like are found, and
2. if one of them holds an ``__extend__.py``, that module is imported right after the package
   itself was executed, and the names in its ``__all__`` are set on the package.

One plain module is wrapped: ``pytensor.configdefaults``, whose lists of modes and linkers admit no
other (see ``pytensor._configvars``).

A part of ours that can't be loaded, with a PyTensor that is too old or too new, never keeps
PyTensor itself from loading: its names, its modes and the conversions of its Ops say why they
aren't there when they are asked for.

Nothing is imported before its package is: ``pytensor.link.jax.dispatch.__extend__`` runs when
PyTensor loads its JAX dispatch, and only then.

``.pth`` files are read in site directories only.  Where this distribution lies on ``PYTHONPATH``
instead, ``import _pytensor_graft`` before ``import pytensor`` does the same by hand.

Only what the interpreter has loaded anyway is imported at the top: this runs in every process.
"""

import os
import sys

MARK = os.path.join("tensor", "__extend__.py")
REQUIRED = "pytensor>=3.3.5,<3.4"
# Upstream's packages that ours couldn't extend, and why.
failures = {}


def explain(part, error):
    """Say that a part of this distribution can't be loaded, why, and what would help."""
    version = getattr(sys.modules.get("pytensor"), "__version__", "of an unknown version")
    return (
        f"what pytensor-vision adds to {part} can't be loaded ({type(error).__name__}: {error}). "
        f"It needs {REQUIRED}, and pytensor {version} is installed: pip install '{REQUIRED}'"
    )


def _directories_of_ours(fullname, search):
    """List the directories under `search` that extend the package `fullname`.

    A directory with an ``__init__.py`` is a package of its own (a PyTensor source checkout in the
    working directory, say) and never extends another.  At the top, where anything called
    ``pytensor`` in the working directory would do (the folder of a clone, say), ours is known by
    its `MARK`.
    """
    leaf = fullname.rpartition(".")[2]
    candidates = (os.path.join(os.path.abspath(entry), leaf) for entry in search)
    return [
        directory
        for directory in candidates
        if os.path.isdir(directory)
        and not os.path.exists(os.path.join(directory, "__init__.py"))
        and (fullname != "pytensor" or os.path.exists(os.path.join(directory, MARK)))
    ]


def _execute_knowing_onnx(loader):
    """Make `loader` execute ``pytensor.configdefaults`` such that ONNX is a mode."""
    execute = loader.exec_module

    def exec_module(module):
        try:
            from pytensor._configvars import onnx_is_known
        except Exception as error:
            from contextlib import nullcontext as onnx_is_known

            failures[module.__name__] = explain(module.__name__, error)
        try:
            with onnx_is_known():
                execute(module)
        except Exception as error:
            if module.__name__ in failures:
                error.add_note(failures[module.__name__])
            raise

    loader.exec_module = exec_module


def _extend_after_execution(loader, fullname, extension_file):
    """Make `loader` import ``fullname.__extend__`` once it has executed the package.

    The method is replaced on this one loader instance, so that tools which look at the loader's
    type (pickle, inspect, importlib.resources) see what they would see without the graft.
    """
    execute = loader.exec_module

    def exec_module(module):
        execute(module)
        import importlib

        try:
            extension = importlib.import_module(fullname + ".__extend__")
        except Exception as error:
            _say_when_asked(module, extension_file, error)
            return
        for name in extension.__all__:
            setattr(module, name, getattr(extension, name))
        if hasattr(module, "__all__"):
            module.__all__ = [*module.__all__, *extension.__all__]

    loader.exec_module = exec_module


def _say_when_asked(module, extension_file, error):
    """Make what an extension would have added to `module` raise the reason why it isn't there."""
    package = module.__name__
    message = failures[package] = explain(package, error)
    names = _names_in(extension_file)
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
            function.register(object, _explained(function.dispatch(object), message))
    if package == "pytensor.compile":
        mode = getattr(module, "mode", None)
        getattr(mode, "predefined_modes", {})["ONNX"] = _NotLoaded(message)
        getattr(mode, "predefined_linkers", {})["onnx"] = _NotLoaded(message)


def _names_in(extension_file):
    """The names in a module's ``__all__``, which isn't executed."""
    import ast

    with open(extension_file, encoding="utf-8") as file:
        statements = ast.parse(file.read()).body
    return {
        name
        for statement in statements
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__"
        for name in ast.literal_eval(statement.value)
    }


def _explained(convert, message):
    """The conversion of Ops that have none, which says that ours may be missing."""

    def funcify(*arguments, **keywords):
        try:
            return convert(*arguments, **keywords)
        except NotImplementedError as error:
            raise NotImplementedError(
                f"{error}\nIf it is an Op of pytensor-vision: {message}"
            ) from error

    return funcify


class _NotLoaded:
    """What stands for a mode or a linker that couldn't be loaded."""

    def __init__(self, message):
        self._message = message

    def __getattr__(self, name):
        raise ImportError(self._message)


class PyTensorGraft:
    """Meta-path finder for the packages of ``pytensor``."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname != "pytensor" and not fullname.startswith("pytensor."):
            return None
        for finder in sys.meta_path:
            if getattr(finder, "__name__", None) == cls.__name__:
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                break
        else:
            return None
        if fullname == "pytensor.configdefaults":
            _execute_knowing_onnx(spec.loader)
        locations = spec.submodule_search_locations
        # A package without `origin` is a namespace package: upstream has no such package, we do.
        if locations is None or spec.origin is None:
            if fullname == "pytensor" and _directories_of_ours(fullname, sys.path):
                raise ModuleNotFoundError(
                    f"PyTensor itself is not installed: pip install '{REQUIRED}'",
                    name=fullname,
                )
            return spec
        known = {os.path.abspath(location) for location in locations}
        for directory in _directories_of_ours(fullname, sys.path if path is None else path):
            if directory not in known:
                known.add(directory)
                locations.append(directory)
        for location in locations:
            extension_file = os.path.join(location, "__extend__.py")
            if os.path.exists(extension_file):
                _extend_after_execution(spec.loader, fullname, extension_file)
                break
        return spec


def install():
    """Add the finder to ``sys.meta_path`` once, whichever copy of this file asks for it."""
    if not any(getattr(f, "__name__", None) == PyTensorGraft.__name__ for f in sys.meta_path):
        sys.meta_path.insert(0, PyTensorGraft)


install()
