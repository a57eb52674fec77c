"""Imports lead to modules that exist, and never back to where they began."""

import ast
import json
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

import pytest

import pytensor

ROOT = Path(__file__).parents[1]
NOT_INSTALLED = {"torch"}  # by `setup.sh --dev`


def modules_in(folder):
    """Map the names of the modules in a folder to their paths; packages have their own names."""
    found = {}
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports_in(path):
    """Return the nodes of a file that import something or call `load`, wherever they stand."""
    kinds = ast.Import, ast.ImportFrom
    return [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, kinds) or (isinstance(node, ast.Call) and is_load(node.func))
    ]


def is_load(called):
    return isinstance(called, ast.Name) and called.id == "load"


def imported(path, modules):
    """Yield the modules that a module names in an import, or in `load`, wherever that stands."""
    for node in imports_in(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in modules else node.module
        elif isinstance(node, ast.Call):
            yield f"pytensor.link.onnx.{getattr(node.args[0], 'value', None)}"


def check(modules):
    graph = {
        name: {other for other in imported(path, modules) if other in modules and other != name}
        for name, path in modules.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.slow
def test_imported_modules_exist():
    """In files, too, that no test here can import: those for PyTorch and MLX."""
    places = [Path(place) for place in pytensor.__path__]
    missing = []
    for folder in ("pytensor", "tests", "benchmarks", "examples", "docs"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in imports_in(path):
                if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("pytensor."):
                    parts = node.module.split(".")[1:]
                    found = [place.joinpath(*parts) for place in places]
                    if not any(at.is_dir() or at.with_suffix(".py").exists() for at in found):
                        missing.append(f"{path.relative_to(ROOT)}: {node.module}")
    assert missing == []


def packages(path):
    """Yield the first parts of the names that a file imports anywhere."""
    for node in imports_in(path):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]


def test_benchmarks_import_what_there_is():
    """Within functions, too, that no test calls."""
    missing = {
        f"{path.relative_to(ROOT)}: {name}"
        for folder in ("benchmarks", "docs")
        for path in (ROOT / folder).rglob("*.py")
        for name in packages(path)
        if name not in NOT_INSTALLED and find_spec(name) is None
    }
    assert missing == set()


def after(code):
    """Return what a program prints as JSON, in an interpreter of its own."""
    command = [sys.executable, "-c", f"import json, sys\n{code}"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.slow
def test_names_of_pt_are_loaded_when_they_are_asked_for():
    code = """
import pytensor.tensor as pt
listed = sorted({"nn", "conv2d", "silu", "topk", "resize", "exp"} & set(dir(pt)))
before = "pytensor.tensor.nn" in sys.modules
relu = pt.nn.relu
import pickle
from pytensor.tensor import conv2d, nn, silu
from pytensor.tensor.nn import relu as again
x = pt.tensor4("x")
graph = pickle.loads(pickle.dumps(pt.batch_normalization(pt.conv2d(x, x), *4 * [pt.vector()])))
try:
    pt.no_such_name
except AttributeError as error:
    missing = str(error)
print(json.dumps([
    listed, before, relu is again and nn is pt.nn and silu is nn.silu, conv2d is pt.conv2d,
    type(graph.owner.op).__name__, pt.signal.pool.pool_2d is pt.pool_2d, "pool" in dir(pt.signal),
    missing,
]))
"""
    assert after(code) == [
        ["conv2d", "exp", "nn", "resize", "silu", "topk"], False, True, True,
        "BatchNormalization", True, True,
        "module 'pytensor.tensor' has no attribute 'no_such_name'",
    ]  # fmt: skip


@pytest.mark.slow
def test_rewrites_of_our_ops_are_registered_with_them():
    """A graph may come out of a pickle, whose Ops' modules alone it loads."""
    code = """
import pytensor
from pytensor.compile.mode import optdb

def there(phase, name):
    return name in optdb[phase]._names

fold = "local_fold_batch_normalization_into_convolution"
before = there("specialize", fold)
import pytensor.tensor.pullback
drop = there("canonicalize", "local_drop_unread_gradients")
import pytensor.tensor.batchnorm
infer = "batch_normalization_inference" in optdb._names
import pytensor.tensor.conv.ops
import pytensor.tensor.precision
remove = there("canonicalize", "local_remove_full_precision")
print(json.dumps([before, drop, infer, there("specialize", fold), remove]))
"""
    assert after(code) == [False, True, True, True, True]


@pytest.mark.slow
def test_layers_are_imported_after_a_function_was_compiled():
    code = """
import pytensor, pytensor.tensor as pt
x = pt.vector("x")
pytensor.function([x], pt.exp(x), mode="ONNX")
before = "pytensor.tensor.recurrent" in sys.modules
from pytensor import layers
from pytensor.link.onnx import export_onnx
with pytensor.config.change_flags(floatX="float32"):
    x = pt.tensor3("x")
    model = export_onnx(x, layers.LSTM(3, 4)(x)[0])
print(json.dumps([before, "LSTM" in {node.op_type for node in model.graph.node}]))
"""
    assert after(code) == [False, True]


@pytest.mark.slow
def test_no_circle():
    check(modules_in(ROOT / "pytensor") | modules_in(ROOT / "pytensor_vision"))
    check(modules_in(ROOT / "benchmarks"))


@pytest.mark.slow
def test_nothing_rests_on_benchmarks():
    """But for their own tests, and for each other."""
    others = [*modules_in(ROOT / "tests").items(), *modules_in(ROOT / "pytensor").items()]
    others += modules_in(ROOT / "docs").items()
    wrong = [
        (name, other)
        for name, path in others
        if not name.startswith("tests.benchmarks.")
        for other in imported(path, {})
        if other.partition(".")[0] == "benchmarks"
    ]
    assert not wrong


ROOMS = ["write", "dispatch", "extras", "passes", "lowering", "importing", "contrib", "compare"]
FACE = ["export", "linker", "quantize", "verify", "pymc", "__main__"]


@pytest.mark.slow
def test_rooms_of_the_onnx_backend():
    """A package imports only those named before it, and single modules, except the last ones."""
    home = "pytensor.link.onnx."
    modules = modules_in(ROOT / "pytensor")
    order = {name: number for number, name in enumerate([*ROOMS, *FACE])}

    def place(name):
        return order.get(name.removeprefix(home).split(".")[0], -1)

    wrong = [
        (name, other)
        for name, path in modules.items()
        if name.startswith(home) and place(name) < len(ROOMS)
        for other in imported(path, modules)
        if other.startswith(home) and place(other) > place(name)
    ]
    assert not wrong
    assert {name for name in ROOMS if f"{home}{name}" in modules} == {*ROOMS}


def test_rooms_of_the_jax_backend():
    """What stands above all others imports none of them, and what shares a batch only that."""
    modules, home = modules_in(ROOT / "pytensor"), "pytensor.link.jax."
    ground = {f"{home}{name}" for name in ("host_arrays", "internals", "target", "xla_guard")}
    parallel = {name for name in modules if name.startswith(f"{home}parallel")}
    assert ground < modules.keys()
    wrong = [
        (name, other)
        for room, known in ((ground, ground), (parallel, ground | parallel))
        for name in sorted(room)
        for other in imported(modules[name], modules)
        if other in modules and other.startswith(home) and other not in known
    ]
    assert not wrong
