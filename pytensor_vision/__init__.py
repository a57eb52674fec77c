"""Graft the modules of this distribution onto the ``pytensor`` package.

This module adds one meta-path finder.  A ``.pth`` file, which each interpreter reads at its start,
has it imported right before PyTensor is (from Python 3.15 on, a ``.start`` file does so at the
start).  Where no such file is read (``python -S``, a zip file, ``PYTHONPATH``), ``import
pytensor_vision`` before ``import pytensor`` does the same.

Whenever a package ``pytensor`` or ``pytensor.*`` of PyTensor's is imported,

1. our directory of the same name is appended to its ``__path__``, so that ``pytensor.tensor.pool``
   and the like are found, after what PyTensor has itself, and
2. if our directory holds an ``__extend__.py``, that module is imported right after the package was
   executed, and the names in its ``__all__`` that the package lacks are set on it.

Nothing is imported before its package is: ``pytensor.link.jax.dispatch.__extend__`` runs when
PyTensor loads its JAX dispatch, and only then.

Besides `pytensor_vision.state`, only what the interpreter has loaded anyway is imported here: from
Python 3.15 on this runs in every process.  What happens when PyTensor is imported stands in
`pytensor_vision.extending`.
"""

import os
import sys

from pytensor_vision.state import HOME, REQUIRED, explain, extended, failures

__all__ = ["HOME", "REQUIRED", "PyTensorGraft", "explain", "extended", "failures", "install"]

if os.path.dirname(os.path.abspath(__file__)) != HOME:
    __path__.append(HOME)  # so that `pytensor_vision.pytensor` is there, too


def __getattr__(name):
    """Read the version when it is asked for, as that imports more than the finder may."""
    if name == "__version__":
        from importlib.metadata import version

        return version("pytensor-vision")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class PyTensorGraft:
    """Meta-path finder for the modules of ``pytensor`` that are extended."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        """Find a module of PyTensor's as the other finders do, and extend it."""
        if fullname not in extended:
            return None
        spec = None
        for finder in sys.meta_path:
            if getattr(finder, "__name__", None) != cls.__name__:
                spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                break
        # Any folder called pytensor, our checkout's too, is a package without an origin.
        if fullname == "pytensor" and (spec is None or spec.origin is None):
            raise ModuleNotFoundError(
                f"PyTensor itself is not installed: pip install '{REQUIRED}'", name=fullname
            )
        if spec is not None:
            from pytensor_vision.extending import extend

            extend(spec)
        return spec


def install():
    """Add the finder to ``sys.meta_path`` once, whichever copy of this file asks for it."""
    if any(getattr(f, "__name__", None) == PyTensorGraft.__name__ for f in sys.meta_path):
        return
    if "pytensor" in sys.modules:
        raise ImportError(
            "PyTensor was imported before pytensor-vision, which can't be added to it now: restart "
            "Python, or import pytensor_vision first"
        )
    # The finder of the `.pth` file has done its work.
    others = (f for f in sys.meta_path if getattr(f, "__name__", None) != "PyTensorGraftAtStart")
    sys.meta_path[:] = [PyTensorGraft, *others]


install()
