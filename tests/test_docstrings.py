"""Docstrings of functions begin with a verb; ruff's D401 doesn't see noun clauses."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = "pytensor", "pytensor_vision", "examples", "benchmarks", "docs/tools", ".ci", "tests"
NO_VERBS = {
    "A", "All", "An", "As", "By", "Each", "Every", "How", "Of", "The", "What", "Where", "Whether",
    "Which", "Who", "Why",
}  # fmt: skip


def without_verb(path):
    """Yield the lines of a module's functions whose docstring begins with no verb."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        is_test = isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or is_test:
            continue
        # Of a property or an attribute the docstring says what it is.
        if any("property" in ast.unparse(decorator) for decorator in node.decorator_list):
            continue
        text = ast.get_docstring(node)
        if text and text.split()[0] in NO_VERBS:
            yield f"{path.relative_to(ROOT)}:{node.lineno}: {text.splitlines()[0]}"


@pytest.mark.slow
def test_docstrings_begin_with_a_verb():
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    paths = [path for path in paths if "node_modules" not in path.parts]
    assert len(paths) > 400
    found = [line for path in paths for line in without_verb(path)]
    assert not found, "\n".join(found)
