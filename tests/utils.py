"""Helpers that several test modules share."""

from contextlib import contextmanager
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import pytensor
from pytensor.compile.mode import Mode
from pytensor.graph.op import HasInnerGraph
from pytensor.graph.traversal import ancestors

ROOT = Path(__file__).parents[1]
# What is computed in Python, Op by Op, with no rewrite between the graph as built and its result.
REFERENCE_MODE = Mode(linker="py", optimizer=None)

TOLERANCES = {"float16": (1e-2, 1e-2), "float32": (1e-4, 1e-5), "float64": (1e-7, 1e-9)}


def in_turn(names, *axes):
    """Parametrize a test with some of all combinations: the last axis' values take turns.

    The other values meet in all combinations, and each of them meets all of the last axis, if
    another axis has as many values.
    """
    combinations = []
    for places in product(*(range(len(axis)) for axis in axes)):
        *others, last = places
        if last == sum(others) % len(axes[-1]):
            combinations.append([axis[place] for axis, place in zip(axes, places, strict=True)])
    return pytest.mark.parametrize(names, combinations)


def compare_jax_and_py(inputs, outputs, values, *, jax_mode="JAX", **settings):
    """Compare as `compare_mode_and_py`, for mode JAX."""
    return compare_mode_and_py(jax_mode, inputs, outputs, values, **settings)


def compare_mode_and_py(
    mode, inputs, outputs, values, *, rtol=None, atol=None, py_mode=REFERENCE_MODE
):
    """Check that a graph has the same results in a mode as in Python.

    Dtypes and shapes must be equal, and be those that the graph's types promise; floats may differ
    by a tolerance that depends on the dtype.

    Parameters
    ----------
    mode : str or Mode
    inputs : sequence of Variable
    outputs : Variable or sequence of Variable
    values : sequence of arrays
        One per input.
    rtol, atol : float, optional
        Instead of the dtype's tolerance.

    Returns
    -------
    list of numpy.ndarray
        The mode's results.
    """
    inputs = tuple(inputs)
    outputs = tuple(outputs) if isinstance(outputs, list | tuple) else (outputs,)
    # Inner graphs would be compiled to C even in this mode: slow, and float16 warns
    with pytensor.config.change_flags(cxx=""):
        py_results = compiled(py_mode, inputs, outputs)(*values)
    results = [np.asarray(result) for result in compiled(mode, inputs, outputs)(*values)]
    for variable, expected, actual in zip(outputs, py_results, results, strict=True):
        expected = np.asarray(expected)
        assert actual.dtype == expected.dtype == variable.type.dtype
        assert actual.shape == expected.shape
        for known, length in zip(variable.type.shape, actual.shape, strict=True):
            assert known is None or known == length, f"{variable.type} has shape {actual.shape}"
        default_rtol, default_atol = TOLERANCES.get(str(expected.dtype), (0, 0))
        np.testing.assert_allclose(
            actual,
            expected,
            rtol=default_rtol if rtol is None else rtol,
            atol=default_atol if atol is None else atol,
        )
    return results


@lru_cache(maxsize=2)
def compiled(mode, inputs, outputs):
    """Compile a function; the last two are kept, for calls with other values."""
    return pytensor.function([*inputs], [*outputs], mode=mode, on_unused_input="ignore")


def all_variables(outputs):
    """Return variables, all they are made of, and the same of graphs inside Ops and scalar Ops."""
    found, waiting = set(), list(outputs)
    while waiting:
        for variable in ancestors([waiting.pop()], blockers=found):
            found.add(variable)
            op = None if variable.owner is None else variable.owner.op
            for candidate in (op, getattr(op, "scalar_op", None)):
                if isinstance(candidate, HasInnerGraph):
                    waiting += [v for v in candidate.fgraph.outputs if v not in found]
    return found


def dtypes_of(outputs):
    """Return the names of the dtypes of `all_variables`."""
    return {v.type.dtype for v in all_variables(outputs) if hasattr(v.type, "dtype")}


def assert_all_differ(draws):
    """Check that no number was drawn twice."""
    numbers = np.ravel(draws)
    assert len(np.unique(numbers)) == len(numbers)


def error_line(capsys):
    """Return what stands on stderr, which is the one line of an error."""
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    return error


def ci_program(file):
    """Return a program of the folder `.ci` as a module."""
    loader = SourceFileLoader(file.removesuffix(".py"), str(ROOT / ".ci" / file))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@contextmanager
def no_compilation():
    """Check that JAX neither traces nor compiles in here."""
    from jax import monitoring

    events = []

    def listen(event, *_, **__):
        events.append(event)

    monitoring.register_event_duration_secs_listener(listen)
    yield
    # Not `clear_event_listeners`: those of the code that is tested would be gone for good.
    monitoring.unregister_event_duration_listener(listen)
    assert not [event for event in events if "compile" in event or "trace" in event]
