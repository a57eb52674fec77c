"""Plugin of pytest for `.ci/upstream_suites`: PyTensor's tests of a backend, in another mode.

What a test compiles for Numba or JAX is compiled in the mode that the variable UPSTREAM_MODE names,
and `compare_numba_and_py` and `compare_jax_and_py` compare its results with the Python linker's:
values, dtypes and shapes. A line of JSON for each test is appended to the file UPSTREAM_RESULTS.
"""

import copy
import json
import os
import signal
import sys
import warnings
from collections import Counter
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

# Of processor time, and of waiting on a machine that is busy otherwise.
SECONDS = 100
WAITED = 600
THEIRS = ("NumbaLinker", "JAXLinker")


class Different(AssertionError):
    """Results that aren't the Python linker's; `kind` is what differs."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


class Record:
    """Note what the running test compiled and compared."""

    def __init__(self):
        self.begin()

    def begin(self):
        """Forget the last test."""
        self.compiled, self.drawn, self.comparisons = 0, False, []


record = Record()


def our_mode():
    """Return the mode that UPSTREAM_MODE names."""
    from pytensor.compile.mode import get_mode

    if os.environ["UPSTREAM_MODE"] != "jax_mode":
        return get_mode(os.environ["UPSTREAM_MODE"])
    from pytensor.link.jax import jax_mode

    return jax_mode()


def replace_modes(ours):
    """Have functions for Numba and JAX compiled in our mode."""
    from pytensor.compile import maker
    from pytensor.compile.mode import get_mode

    def mode_for(asked):
        mode = get_mode(asked)
        name = type(mode.linker).__name__
        if asked is None or name not in THEIRS:
            return mode
        record.compiled += 1
        standard = get_mode(name.removesuffix("Linker").upper())
        return ours.excluding(*mode._optimizer.exclude - standard._optimizer.exclude)

    def init(self, inputs, outputs, *args, **kwargs):
        several = outputs if isinstance(outputs, list | tuple) else [outputs]
        variables = [getattr(out, "variable", out) for out in several if out is not None]
        record.drawn |= any(map(is_drawn, variables))
        make(self, inputs, outputs, *args, **kwargs)

    maker.get_mode = mode_for
    make, maker.FunctionMaker.__init__ = maker.FunctionMaker.__init__, init


def compare(
    graph_inputs, graph_outputs, test_inputs, *, assert_fn=None, inplace=False, updates=None,
    py_mode, their_mode, strict,
):  # fmt: skip
    """Compare a graph's results in our mode with the Python linker's."""
    from pytensor.compile.maker import function

    if assert_fn is None:
        assert_fn = lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-4, strict=strict)  # noqa: E731
    expected = function(
        graph_inputs, graph_outputs, mode=py_mode, updates=updates, accept_inplace=inplace
    )(*copy.deepcopy(list(test_inputs)))  # fmt: skip
    note = {"kind": "equal"}
    record.comparisons.append(note)
    try:
        # Tests of Numba may turn warnings into errors, to see that it isn't left for Python.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = function(
                graph_inputs, graph_outputs, mode=their_mode, updates=updates,
                accept_inplace=inplace,
            )  # fmt: skip
            results = ours(*copy.deepcopy(list(test_inputs)))
        judge(graph_outputs, results, expected, assert_fn)
    except Exception as error:
        note |= fault(error)
        raise
    return ours, results


def judge(outputs, results, expected, assert_fn):
    """Raise `Different` where results aren't what they should be."""
    if not isinstance(outputs, list | tuple):
        outputs, results, expected = [outputs], [results], [expected]
    results, expected = list(map(plain, results)), list(map(plain, expected))
    for k, (x, y) in enumerate(zip(results, expected, strict=True)):
        if not (isinstance(x, np.ndarray) and isinstance(y, np.ndarray)):
            continue
        if x.shape != y.shape:
            raise Different("shapes", f"output {k}: shape {x.shape}, where Python has {y.shape}")
        if x.dtype != y.dtype:
            raise Different("dtypes", f"output {k}: {x.dtype}, where Python has {y.dtype}")
    for k, (variable, x, y) in enumerate(zip(outputs, results, expected, strict=True)):
        try:
            assert_fn(x, y)
        except AssertionError as error:
            if is_drawn(variable):
                raise Different("draws", f"output {k} is drawn at random") from error
            if not reconstructs(variable, outputs, results, expected):
                text = " ".join(str(error).split())
                raise Different("values", f"output {k}: {text}") from error


def plain(value):
    """Return arrays of other libraries, and scalars, as NumPy's arrays."""
    number = isinstance(value, int | float | complex | np.generic | np.ndarray)
    return np.asarray(value) if number or type(value).__module__.startswith("jax") else value


def operator(variable):
    """Return the Op that a variable is a result of, for one matrix of a batch."""
    op = variable.owner and variable.owner.op
    return getattr(op, "core_op", op)


def is_drawn(variable):
    """Return whether a variable depends on random numbers."""
    from pytensor.graph.traversal import ancestors
    from pytensor.tensor.random.op import RandomVariable

    return any(isinstance(operator(v), RandomVariable) for v in ancestors([variable]))


def reconstructs(variable, outputs, results, expected):
    """Return whether results are factors of the same matrix as Python's, with its eigenvalues.

    Factors have signs, phases and bases of their own choice. Results that aren't all of one
    decomposition aren't taken for factors.
    """
    owner = variable.owner
    name = type(operator(variable)).__name__
    if name not in PRODUCTS or any(v.owner is not owner for v in outputs):
        return False
    by_place = [
        {v.index: r for v, r in zip(outputs, each, strict=True)} for each in (results, expected)
    ]
    if len(by_place[0]) < len(owner.outputs):
        return False
    ours, theirs = (PRODUCTS[name](*(d[k] for k in sorted(d))) for d in by_place)
    single = any(r.dtype in ("float32", "complex64") for r in results)
    tolerance = 1e-3 if single else 1e-6
    return all(
        np.allclose(x, y, rtol=tolerance, atol=tolerance) for x, y in zip(ours, theirs, strict=True)
    )


def adjoint(a):
    """Return the conjugate transpose."""
    return a.swapaxes(-1, -2).conj()


def product_of_qr(q, r, pivots=None):
    """Return the matrix of a QR decomposition, and Q's inner products."""
    a = q @ r
    if pivots is not None:
        a = np.take_along_axis(a, np.argsort(pivots, axis=-1)[..., None, :], axis=-1)
    return a, adjoint(q) @ q


def product_of_eig(w, v):
    """Return the matrix of an eigendecomposition, and its eigenvalues in order."""
    return (v * w[..., None, :]) @ np.linalg.inv(v), np.sort_complex(w)


def product_of_svd(u, s, vh):
    """Return the matrix of a singular value decomposition, its values, and inner products."""
    k = s.shape[-1]
    a = (u[..., :, :k] * s[..., None, :]) @ vh[..., :k, :]
    return a, s, adjoint(u) @ u, vh @ adjoint(vh)


def product_of_schur(t, z):
    """Return the matrix of a Schur decomposition, and Z's inner products."""
    return z @ t @ adjoint(z), adjoint(z) @ z


def product_of_qz(a, b, *others):
    """Return the matrices of a generalized Schur decomposition."""
    q, z = others[-2:]
    return q @ a @ adjoint(z), q @ b @ adjoint(z), adjoint(q) @ q, adjoint(z) @ z


PRODUCTS = {
    "QR": product_of_qr, "Eig": product_of_eig, "Eigh": product_of_eig, "SVD": product_of_svd,
    "Schur": product_of_schur, "QZ": product_of_qz,
}  # fmt: skip


def fault(error):
    """Return what is kept of an error: what it is, what it says, and the files it came through."""
    causes = [error]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
    files, trace = [], error.__traceback__
    while trace is not None:
        files.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    text = "\n".join(f"{type(e).__name__}: {e}" for e in causes)[:1500]
    kind = getattr(error, "kind", "error")
    return {"kind": kind, "error": text, "in_test": "/tests/" in files[-1]}


@contextmanager
def no_warning_wanted(*args, **kwargs):
    """Take the place of `pytest.warns`: the warnings that tests expect are of the other linker."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def pytest_configure(config):
    sys.path.insert(0, str(Path.cwd()))
    # A forked process has none of JAX's threads, and waits for them for ever.
    os.register_at_fork(after_in_child=lambda: os._exit(1))
    pytest.warns = no_warning_wanted
    mode = our_mode()
    replace_modes(mode)
    for backend, strict in ("numba", True), ("jax", False):
        module = import_module(f"tests.link.{backend}.test_basic")
        name, default = f"compare_{backend}_and_py", getattr(module, f"{backend}_mode")

        def compare_and_py(
            *args, _mode=f"{backend}_mode", _default=default, _py=module.py_mode, _strict=strict,
            eval_obj_mode=None, must_be_device_array=None, **kwargs,
        ):  # fmt: skip
            theirs, python = kwargs.pop(_mode, _default), kwargs.pop("py_mode", _py)
            return compare(*args, their_mode=theirs, py_mode=python, strict=_strict, **kwargs)

        setattr(module, name, compare_and_py)


def pytest_collection_modifyitems(config, items):
    """Leave out the tests that the file UPSTREAM_DONE lists."""
    done = set(json.loads(Path(os.environ["UPSTREAM_DONE"]).read_text()))
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in done])
    items[:] = [item for item in items if item.nodeid not in done]


@pytest.fixture
def benchmark():
    """Call a function that pytest-benchmark would time."""
    return lambda function, *args, **kwargs: function(*args, **kwargs)


def write(test, **facts):
    """Append the facts of a test to the results."""
    with open(os.environ["UPSTREAM_RESULTS"], "a") as file:
        file.write(json.dumps({"test": test, **facts}) + "\n")


def too_long(number, frame):
    raise TimeoutError(f"it took {SECONDS} s of processor time, or {WAITED} s")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    record.begin()
    write(item.nodeid, outcome="ended the process")
    signal.signal(signal.SIGALRM, too_long)
    signal.signal(signal.SIGPROF, too_long)
    signal.alarm(WAITED)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    outcomes = Counter()
    item.outcomes = outcomes
    result = yield
    signal.alarm(0)
    signal.setitimer(signal.ITIMER_PROF, 0)
    write(
        item.nodeid, outcome=max(outcomes, key=("passed", "skipped", "failed").index),
        compiled=record.compiled, drawn=record.drawn, comparisons=record.comparisons,
        **item.stash.get(FAULT, {}),
    )  # fmt: skip
    return result


FAULT = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    item.outcomes[report.outcome] += 1
    if report.failed and call.excinfo is None:  # it passed, and shouldn't
        item.stash[FAULT] = {"kind": "error", "error": str(report.longrepr), "in_test": True}
    elif report.failed:
        item.stash[FAULT] = fault(call.excinfo.value)
    return report
