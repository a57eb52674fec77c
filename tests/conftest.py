import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter, defaultdict
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

# Before the first import of pytensor or jax, which read these once.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
if "PYTEST_XDIST_WORKER" not in os.environ:
    # What PyTensor compiles is kept for this run alone, for all its processes. An older program of
    # Numba's would be taken for one of the same key whose source has changed since, and a user's
    # own shall not be those that are optimized less, here.
    compiled = Path(tempfile.mkdtemp(prefix="pytensor-tests-"))
    (compiled / "pytensorrc").write_text(f"[global]\nbase_compiledir = {compiled}\n")
    os.environ["PYTENSORRC"] = str(compiled / "pytensorrc")
    os.environ["DIRECTORY_OF_THIS_RUN"] = str(compiled)
    os.environ.setdefault("NUMBA_OPT", "1")  # a third less time to compile
    os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)  # a user's own, as above
    # A hundred processes would each compile a thousand modules: here they find them compiled.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A user's own settings shall not decide whether a test passes; flags given on the command line
# come last and win. A rewrite that fails would otherwise only be logged. Stack traces are off
# because PyTensor's rewrites double those of constants that graphs share: after hundreds of
# compilations in one process they took gigabytes. Nothing is compiled to C, for g++ takes seconds
# for each Op of PyTensor's own; a test that needs it takes `compiler`.
flags = ["floatX=float64", "on_opt_error=raise", "traceback__limit=0", "cxx="]
os.environ["PYTENSOR_FLAGS"] = ",".join(filter(None, [*flags, os.environ.get("PYTENSOR_FLAGS")]))

# In a fresh clone each worker would compile the same thousands of modules at the same time. Here
# each begins with others, and finds compiled what another one began with.
BEGIN_WITH = (
    ("pytensor.tensor", "numba"),
    ("jax", "jax.experimental.sparse", "hypothesis", "sklearn.datasets", "PIL.Image"),
    ("scipy.stats", "scipy.signal", "sympy", "pandas", "xarray", "playwright.sync_api"),
)
if worker := os.environ.get("PYTEST_XDIST_WORKER"):
    for name in BEGIN_WITH[int(worker.removeprefix("gw")) % len(BEGIN_WITH)]:
        spec = find_spec(name) if find_spec(name.partition(".")[0]) else None
        if spec is not None and not os.path.exists(spec.cached):
            import_module(name)

# The demo is a folder of scripts which import one another by their plain names.
demo = Path(__file__).parents[1] / "examples" / "onnx" / "onnx-yolo-demo"
sys.path.insert(0, str(demo))


def pytest_configure(config):
    """Let tests send Ctrl-C, which a shell's background jobs, and their children, ignore."""
    # By itself `--dist loadfile` begins with the files of the most tests, not with the longest.
    config.option.loadscopereorder = False
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionfinish():
    """Collect garbage once; pytest would ten times, seconds of each worker."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure():
    if "PYTEST_XDIST_WORKER" not in os.environ:
        shutil.rmtree(compiled, ignore_errors=True)
    elif "coverage" not in sys.modules:  # which writes what it has at the very end
        # What follows would take seconds: each of a worker's millions of objects is let go.
        atexit.register(os._exit, 0)


def pytest_terminal_summary(terminalreporter):
    """Say what the skipped tests lack, in one line."""
    from tests.skipped import kind_of

    kinds = Counter(map(kind_of, terminalreporter.stats.get("skipped", [])))
    if kinds:
        parts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        terminalreporter.write_line(f"{kinds.total()} skipped: {parts}")


def pytest_collection_finish():
    """Keep the collector of garbage from what is there now, and call it less often.

    It took a tenth of the time: PyTensor's graphs are full of circles, and its modules are large.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def case_of(item):
    """Return the id of a test's case, or "" if the test has no parameters."""
    return item.callspec.id if hasattr(item, "callspec") else ""


# What `pytest.mark.by_default` names that isn't there, by test
unknown_cases = pytest.StashKey()


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config, items):
    """Mark what the fast lane and the default run leave out.

    Long are the cases that their test's `by_default` doesn't name.  Slow are the long tests, and
    of a test with many parameters all but the first and the last.  The files beside this one come
    first: some of them take long, and with `--dist loadfile` no worker waits for them at the end.
    """
    tests = Path(__file__).parent
    items.sort(key=lambda item: item.path.parent != tests)
    functions = defaultdict(list)
    for item in items:
        named = item.get_closest_marker("by_default")
        if named and case_of(item) not in named.args:
            item.add_marker("long")
        functions[item.nodeid.partition("[")[0]].append(item)
        if item.get_closest_marker("long"):
            item.add_marker("slow")
    config.stash[unknown_cases] = unknown = {}
    for name, same in functions.items():
        for item in same[1:-1]:
            item.add_marker("slow")
        if named := same[0].get_closest_marker("by_default"):
            unknown[name] = {*named.args} - {*map(case_of, same)}


# JAX is not guarded here (`pytensor.link.jax.guard_xla`): mode JAX is tested as its users have it,
# and with XLA_FLAGS set for all, no test could see whether `jax_mode` guards its functions by
# itself.  A test in mode JAX whose large products meet XLA's fault takes `jax_mode`.


@pytest.fixture(scope="session", autouse=True)
def jax_in_double_precision():
    """Load the JAX dispatch before any test can change floatX.

    Loading it sets jax_enable_x64 from floatX once and for all; without this, a test's results
    would depend on which test came first.
    """
    if find_spec("jax"):
        import pytensor.link.jax.dispatch  # noqa: F401


@pytest.fixture(scope="module")
def compiled_sooner():
    """Have JAX leave out the optimizations that take it longest; what it is given is the same."""
    jax = pytest.importorskip("jax")
    before = jax.config.values["jax_disable_most_optimizations"]
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)


@pytest.fixture(scope="module")
def compiler():
    """Have PyTensor use g++ as it does outside of the tests."""
    import pytensor

    path = shutil.which("g++")
    if path is None:
        pytest.skip("there is no g++")
    with pytensor.config.change_flags(cxx=path):
        yield path


@pytest.fixture
def float32_everywhere():
    """Run the test as a process does that starts with floatX=float32: JAX then has no float64."""
    import jax

    import pytensor

    with pytensor.config.change_flags(floatX="float32"), jax.enable_x64(False):
        yield
