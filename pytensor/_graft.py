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

Nothing is imported before its package is: ``pytensor.link.jax.dispatch.__extend__`` runs when
PyTensor loads its JAX dispatch, and only then.

``.pth`` files are read in site directories only.  Where this distribution lies on ``PYTHONPATH``
instead, ``import _pytensor_graft`` before ``import pytensor`` does the same by hand.

Only what the interpreter has loaded anyway is imported at the top: this runs in every process.
"""

import os
import sys

MARK = os.path.join("tensor", "__extend__.py")


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
        from pytensor._configvars import onnx_is_known

        with onnx_is_known():
            execute(module)

    loader.exec_module = exec_module


def _extend_after_execution(loader, fullname):
    """Make `loader` import ``fullname.__extend__`` once it has executed the package.

    The method is replaced on this one loader instance, so that tools which look at the loader's
    type (pickle, inspect, importlib.resources) see what they would see without the graft.
    """
    execute = loader.exec_module

    def exec_module(module):
        execute(module)
        import importlib

        extension = importlib.import_module(fullname + ".__extend__")
        for name in extension.__all__:
            setattr(module, name, getattr(extension, name))
        if hasattr(module, "__all__"):
            module.__all__ = [*module.__all__, *extension.__all__]

    loader.exec_module = exec_module


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
                    "PyTensor itself is not installed: pip install 'pytensor>=3.3,<3.4'",
                    name=fullname,
                )
            return spec
        known = {os.path.abspath(location) for location in locations}
        for directory in _directories_of_ours(fullname, sys.path if path is None else path):
            if directory not in known:
                known.add(directory)
                locations.append(directory)
        if any(os.path.exists(os.path.join(loc, "__extend__.py")) for loc in locations):
            _extend_after_execution(spec.loader, fullname)
        return spec


def install():
    """Add the finder to ``sys.meta_path`` once, whichever copy of this file asks for it."""
    if not any(getattr(f, "__name__", None) == PyTensorGraft.__name__ for f in sys.meta_path):
        sys.meta_path.insert(0, PyTensorGraft)


install()
