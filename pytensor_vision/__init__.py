"""Graft the modules of this distribution onto the ``pytensor`` package.

This module adds one meta-path finder.  A ``.pth`` file, which each interpreter reads at its start,
has it imported right before PyTensor is (from Python 3.15 on, a ``.start`` file does so at the
start).  Where no such file is read (``python -S``, a zip file, ``PYTHONPATH``), ``import
pytensor_vision`` before ``import pytensor`` does the same by hand.

Whenever a package ``pytensor`` or ``pytensor.*`` of PyTensor's is imported,

1. our directory of the same name is appended to its ``__path__``, so that ``pytensor.tensor.pool``
   and the like are found, after what PyTensor has itself, and
2. if our directory holds an ``__extend__.py``, that module is imported right after the package was
   executed, and the names in its ``__all__`` that the package lacks are set on it.

Nothing is imported before its package is: ``pytensor.link.jax.dispatch.__extend__`` runs when
PyTensor loads its JAX dispatch, and only then.

Only what the interpreter has loaded anyway is imported here: from Python 3.15 on this runs in every
process.  What happens when PyTensor is imported stands in `pytensor_vision.extending`.
"""

import os
import sys

REQUIRED = "pytensor>=3.3.5,<3.4"
# What of ours could not be loaded, by its module or package, and why.
failures: dict[str, str] = {}
# The modules of PyTensor that something is added to: known once PyTensor itself is found.  The
# finder leaves the others alone, for PyTensor has hundreds.
extended = {"pytensor"}

# The folder whose `pytensor` has our modules: a wheel's is this package, a checkout's its root.
HOME = os.path.dirname(os.path.abspath(__file__))
if os.path.exists(os.path.join(os.path.dirname(HOME), "pytensor", "tensor", "__extend__.py")):
    HOME = os.path.dirname(HOME)
    __path__.append(HOME)  # so that `pytensor_vision.pytensor` is there, too


def explain(part, error):
    """Say that a part of this distribution can't be loaded, why, and what would help."""
    version = getattr(sys.modules.get("pytensor"), "__version__", "of an unknown version")
    return (
        f"what pytensor-vision adds to {part} can't be loaded ({type(error).__name__}: {error}). "
        f"It needs {REQUIRED}, and pytensor {version} is installed: pip install '{REQUIRED}'"
    )


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
