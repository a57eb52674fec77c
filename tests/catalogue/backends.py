"""The backends that run the catalogue, and the largest error that each may have."""

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np

import pytensor
from pytensor.compile.mode import Mode
from tests.utils import REFERENCE_MODE

# Largest error, relative to the largest entry of a result (or to 1)
TOLERANCES = {"float16": 2e-2, "float32": 5e-4, "float64": 1e-7}
ORDERS = ("forward", "gradient", "second gradient")
WARNS = "warns: "
# Asked before a test can switch the compiler off
CXX = pytensor.config.cxx


@dataclass(frozen=True)
class Backend:
    """How to run a graph.

    Attributes
    ----------
    name : str
    mode : str, Mode or callable
        A callable returns the mode.
    packages : tuple of str
        Without which there is no such backend.
    dtype : str
        Of the graphs that are differentiated.
    remark : str
        What the table says of the backend after the versions of its packages.
    context : callable
        Returns a context manager in which functions are compiled and called.
    """

    name: str
    mode: str | Mode | Callable
    packages: tuple[str, ...]
    dtype: str = "float64"
    remark: str = ""
    context: Callable = nullcontext

    @property
    def installed(self):
        """Return whether the packages are there, and a compiler for C."""
        return all(map(find_spec, self.packages)) and (self.name != "C" or bool(CXX))

    @property
    def versions(self):
        return ", ".join(f"{p} {version(p)}" for p in self.packages) + self.remark

    def compute(self, inputs, outputs, values):
        """Return the results of a graph.

        Parameters
        ----------
        inputs : list of Variable
        outputs : list of Variable
        values : sequence of numpy.ndarray
            One per input.

        Returns
        -------
        list of numpy.ndarray
        """
        mode = self.mode() if callable(self.mode) else self.mode
        # Inner graphs are compiled by C in any mode that isn't told otherwise
        cxx = CXX if self.name == "C" else ""
        with pytensor.config.change_flags(cxx=cxx), self.context():
            compiled = pytensor.function(inputs, outputs, mode=mode, on_unused_input="ignore")
            return [np.asarray(result) for result in compiled(*values)]


class _Model(Backend):
    """The export to ONNX, and onnxruntime."""

    def compute(self, inputs, outputs, values):
        from pytensor.link.onnx import DroppedCheckWarning, export_onnx
        from tests.link.onnx.test_basic import run

        # What is checked while a function runs isn't part of a model
        with warnings.catch_warnings(action="ignore", category=DroppedCheckWarning):
            return run(export_onnx(inputs, outputs), values)


def _pytorch_mode():
    from pytensor.link.pytorch.corrected import pytorch_mode

    return pytorch_mode()


def _eager():
    """Run PyTorch operator by operator: to compile takes up to minutes, for the same results."""
    import torch

    return torch.compiler.set_stance("force_eager")


def _mlx_mode():
    from pytensor.link.mlx.corrected import mlx_mode

    # not compiled, which takes seconds each
    return mlx_mode(use_compile=False)


# Fused scalar Ops compute with Python's own numbers, where ~True is -2
PYTHON = Mode(linker="py", optimizer="fast_run").excluding("fusion")
BACKENDS = {
    backend.name: backend
    for backend in (
        Backend("Python", PYTHON, ("numpy", "scipy")),
        Backend("C", Mode(linker="cvm", optimizer="fast_run"), ("numpy", "scipy")),
        Backend("Numba", "NUMBA", ("numba",)),
        Backend("JAX", "JAX", ("jax",)),
        _Model("ONNX", None, ("onnx", "onnxruntime"), "float32"),
        Backend(
            "PyTorch",
            _pytorch_mode,
            ("torch",),
            remark=" (`pytorch_mode()`, eager)",
            context=_eager,
        ),
        # MLX's exp, erf and logistic function have no more digits in float64
        Backend("MLX", _mlx_mode, ("mlx",), "float32", " (`mlx_mode()`)"),
    )
}
REFERENCE = Backend("reference", REFERENCE_MODE, ())


def installed():
    """Return the names of the backends that can be run here."""
    return [name for name, backend in BACKENDS.items() if backend.installed]


@cache
def reference(example, dtype="float64", order=2):
    """Return results in Python, unrewritten, with static shapes, computed in float64.

    Parameters
    ----------
    example : Example
    dtype : str
        Of the values, which are the same numbers in float64.
    order : int
        As for `Example.graph`.
    """
    of = "float64" if dtype.startswith("float") else dtype
    inputs, outputs, _ = example.graph(of, known="all", order=order)
    values = zip(example.values(dtype), inputs, strict=True)
    return REFERENCE.compute(inputs, outputs, [value.astype(x.type.dtype) for value, x in values])


def difference(results, expected, dtype):
    """Return what is wrong with results, or "".

    Parameters
    ----------
    results, expected : sequence of numpy.ndarray
    dtype : str
        Of the results that are floats in `expected`.
    """
    for result, wanted in zip(results, expected, strict=True):
        is_float = dtype.startswith("float") and wanted.dtype.kind == "f"
        wanted_dtype = dtype if is_float else str(wanted.dtype)
        if result.dtype != wanted_dtype or result.shape != wanted.shape:
            return (
                f"gives {result.dtype} of shape {result.shape}, not {wanted_dtype} of shape "
                f"{wanted.shape}"
            )
        tolerance = TOLERANCES.get(wanted_dtype, TOLERANCES["float64"])
        error = np.abs(result.astype("float64") - wanted).max(initial=0)
        if not error <= tolerance * max(1, np.abs(wanted).max(initial=0)):
            return f"is wrong by up to {error:.1e}"
    return ""
