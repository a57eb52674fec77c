"""Write the files of a new operator of `pytensor.tensor`, which run, and register its names.

    python -m docs.tools.new_operator cummax cumulative     # the function, and its topic

The files are copies of `tests/link/toy` under other names.  Its Op mirrors images in Python, Numba,
JAX and ONNX, until you write another into them.  See docs/add_an_operator.md.
"""

import argparse
import re
import textwrap
from pathlib import Path
from string import Template

import pytensor.tensor as pt

ROOT = Path(__file__).parents[2]
TOY = ROOT / "tests/link/toy"
FILES = {
    "op.py": "pytensor/tensor/$topic.py",
    "in_jax.py": "pytensor/link/jax/dispatch/$topic.py",
    "in_onnx.py": "pytensor/link/onnx/dispatch/$topic.py",
    "in_numba.py": "pytensor/link/numba/dispatch/$topic.py",
}
TEST = """\
import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor.gradient import verify_grad
from tests.utils import REFERENCE_MODE

rng = np.random.default_rng(0)


def test_values_and_gradients():
    value = rng.normal(size=(3, 5))
    found = pt.$name(pt.constant(value))
    assert found.type.shape == value.shape
    np.testing.assert_array_equal(found.eval(mode=REFERENCE_MODE), np.flip(value, -1))
    verify_grad(pt.$name, [value], rng=rng, mode=REFERENCE_MODE)


def test_errors():
    with pytest.raises(ValueError, match="$name: x must have at least one axis"):
        pt.$name(1.0)
"""
# A file, a line for it, and how the lines begin that it goes among, in their order.
LINES = (
    ("pytensor/tensor/__extend__.py", '    "$name": "$topic",', r'    "\w+": "'),
    (
        "pytensor/tensor/__init__.pyi", "from pytensor.tensor.$topic import $name as $name",
        r"from pytensor\.tensor\.",
    ),
    (
        "pytensor/link/jax/dispatch/table.py", '    "pytensor.tensor.$topic": "dispatch.$topic",',
        r'    "pytensor\.tensor\.',
    ),
    (
        "pytensor/link/numba/dispatch/__extend__.py",
        "import pytensor.link.numba.dispatch.$topic", "import pytensor",
    ),
    (
        "tests/catalogue/operators.py",
        'row("$name", pt.$name, unknown(2, 3, 5), integers=True)', r'row\("topk"',
    ),
    (
        "tests/catalogue/ops.py", "from pytensor.tensor.$topic import $Op",
        r"from pytensor\.tensor\.",
    ),
    ("tests/catalogue/ops.py", 'ours($Op, "$name")', r"ours\("),
    ("tests/tensor/test_docs.py", 'NOT_IN_ONNX |= {"pt.$name"}', r'NOT_IN_ONNX \|= {"pt\.'),
    ("docs/reference/operators.md", "   $name", r"   (pool_2d|resize|topk)$"),
)  # fmt: skip


def renamed(text, words):
    """Return a file of the toy as the new operator's, without facts that another Op may lack."""
    text = re.sub(r"^.*\b(layout|precision)\b.*\n", "", text, flags=re.MULTILINE)
    text = text.replace("from tests.link.toy.op import mirror\n    >>> ", "pt.")
    text = text.replace("tests.link.toy.op", f"pytensor.tensor.{words['topic']}")
    return text.replace("Mirror", words["Op"]).replace("mirror", words["name"])


def insert(path, line, among):
    """Put a line into a file before the first of similar lines that sorts after it."""
    lines = path.read_text(encoding="utf-8").split("\n")
    places = [k for k, each in enumerate(lines) if re.match(among, each)]
    lines.insert(next((k for k in places if lines[k] > line), places[-1] + 1), line)
    path.write_text("\n".join(lines), encoding="utf-8")


def list_name(path, name):
    """Put a name into the `__all__` of a module."""
    text = path.read_text(encoding="utf-8")
    found = re.search(r"__all__ = \[(.*?)\]", text, re.DOTALL)
    names = sorted([*re.findall(r'"(\w+)"', found[1]), name])
    rows = textwrap.fill(", ".join(f'"{each}"' for each in names) + ",", 100,
        initial_indent="    ", subsequent_indent="    ")  # fmt: skip
    path.write_text(text.replace(found[0], f"__all__ = [\n{rows}\n]"), encoding="utf-8")


def main():
    """Write the files and lines of the operator that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", help="of the function, in snake_case")
    parser.add_argument("topic", help="name of the modules, another than the function's")
    o = parser.parse_args()
    if not all(re.fullmatch(r"[a-z]\w*", each) for each in (o.name, o.topic)):
        parser.error(f"{o.name} {o.topic}: give two names in snake_case")
    if hasattr(pt, o.name):
        parser.error(f"pt.{o.name} exists: give another name")
    if o.name == o.topic:
        parser.error(
            f"{o.topic}: a module of the function's name can't be loaded lazily; give another"
        )
    words = {"name": o.name, "topic": o.topic}
    words["Op"] = "".join(part.capitalize() for part in o.name.split("_"))
    files = {Template(to).substitute(words): TOY / name for name, to in FILES.items()}
    contents = {
        path: renamed(toy.read_text(encoding="utf-8"), words) for path, toy in files.items()
    }
    contents[f"tests/tensor/test_{o.topic}.py"] = Template(TEST).substitute(words)
    if there := [path for path in contents if (ROOT / path).exists()]:
        parser.error(f"{there[0]} exists: give another topic")
    for path, content in contents.items():
        (ROOT / path).write_text(content, encoding="utf-8")
        print(f"wrote {path}")
    list_name(ROOT / "pytensor/tensor/__extend__.py", o.name)
    for name, line, among in LINES:
        insert(ROOT / name, Template(line).substitute(words), among)
        print(f"a line in {name}")


if __name__ == "__main__":
    main()
