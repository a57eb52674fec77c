"""What isn't JAX's public interface is in one module, and is there in the JAX that is installed."""

import ast
import re
from pathlib import Path

import pytest

from pytensor.link.jax import internals

jax = pytest.importorskip("jax")
jaxlib = pytest.importorskip("jaxlib")

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "pytensor"
INSIDE = re.compile(
    r"jax\._[a-z]|jax\.(experimental|extend|interpreters|lib)\b|jaxlib\.[a-z]|\w+\.client$"
)


def inner_names(path):
    """Yield what a module names of JAX's insides: imports, and attributes."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Attribute):
            names = [ast.unparse(node)]
        yield from (name for name in names if INSIDE.match(name))


@pytest.mark.slow
def test_one_module_knows_what_is_inside_of_jax():
    paths = [path for path in PACKAGE.rglob("*.py") if [*inner_names(path)]]
    assert paths == [PACKAGE / "link/jax/internals.py"]


def test_each_says_which_versions_have_it():
    project = (ROOT / "pyproject.toml").read_text()
    lowest = re.search(r'^jax = \["jax>=([\d.]+)"\]$', project, re.MULTILINE)[1]
    versions = re.compile(rf"jax(lib)?\s+{re.escape(lowest)}\.0 to [\d.]+\d")
    silent = [n for n in internals.__all__ if not versions.search(getattr(internals, n).__doc__)]
    assert silent == []


def test_they_work_here():
    device = jax.devices()[0]
    program = jax.jit(lambda x: x + 1).lower(1.0).compile()
    assert internals.backend_has_started()
    assert ".".join(map(str, internals.jaxlib_version())) == jaxlib.__version__
    assert ("jax_enable_x64", str(jax.config.jax_enable_x64)) in internals.all_settings()
    assert internals.xla_version(device)
    internals.make_lapack_known()
    again = internals.deserialize_program(internals.serialize_program(program), device)
    assert again(1.0) == 2
