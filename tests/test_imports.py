"""Imports lead to modules that exist, and never back to where they began."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import pytensor

ROOT = Path(__file__).parents[1]


def modules_in(folder):
    """Map the names of the modules in a folder to their paths; packages have their own names."""
    found = {}
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path, modules):
    """Yield the modules that a module names in an import, or in `load`, wherever that stands."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in modules else node.module
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "load":
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


def test_imported_modules_exist():
    """In files, too, that no test here can import: those for PyTorch and MLX."""
    places = [Path(place) for place in pytensor.__path__]
    missing = []
    for folder in ("pytensor", "tests", "benchmarks", "examples", "docs"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("pytensor."):
                    parts = node.module.split(".")[1:]
                    found = [place.joinpath(*parts) for place in places]
                    if not any(at.is_dir() or at.with_suffix(".py").exists() for at in found):
                        missing.append(f"{path.relative_to(ROOT)}: {node.module}")
    assert missing == []


def test_no_circle():
    check(modules_in(ROOT / "pytensor"))


def test_no_circle_of_scripts():
    # They find one another by their own names.
    modules = modules_in(ROOT / "benchmarks")
    check({name.removeprefix("benchmarks."): path for name, path in modules.items()})


def test_a_circle_is_found(tmp_path):
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "a.py").write_text("def later():\n    from package.b import x\n")
    (folder / "b.py").write_text("import package.a\n")
    with pytest.raises(pytest.fail.Exception, match=r"package\.a"):
        check(modules_in(folder))


def test_rooms_of_the_onnx_backend():
    """Helpers import no converter, and converters nothing of what calls them."""
    modules = modules_in(ROOT / "pytensor")
    above = {
        "support": ("dispatch", "front"),
        "passes": ("dispatch", "front"),
        "dispatch": ("front",),
    }
    wrong = [
        (name, other)
        for room, others in above.items()
        for name, path in modules.items()
        if name.startswith(f"pytensor.link.onnx.{room}")
        for other in imported(path, modules)
        if other.startswith(tuple(f"pytensor.link.onnx.{other}" for other in others))
    ]
    assert not wrong
