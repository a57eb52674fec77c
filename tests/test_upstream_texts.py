import re
from pathlib import Path

import pytest

from tests.utils import ci_program

ROOT = Path(__file__).parents[1]
TEXTS = ROOT / "thoughts/upstream"
# Faults that our code meets without working around them.
MET = {
    "float-functions-of-booleans", "jax-dispatch-imports-sparse", "mixed-integers-in-c",
    "neg-of-unsigned-rewrite", "numba-indices-out-of-bounds", "numba-ufuncs-of-mixed-dtypes",
    "onnx-reference-loop-of-scalars", "pytensor-jax-wrong-sums-on-cpu", "scalar-loop-in-composite",
    "scan-of-no-steps-shape", "vectorized-sum-of-scalar", "xla-booleans-times-nan",
}  # fmt: skip


def test_the_index_names_every_text():
    index = (TEXTS / "README.md").read_text()
    for text in TEXTS.glob("*.md"):
        title = text.read_text().splitlines()[0].removeprefix("# ")
        assert text.name == "README.md" or f"- [{text.name}]({text.name}): {title}\n" in index


def test_workarounds_name_texts_and_texts_are_named():
    folders = ("pytensor", "pytensor_vision", "examples", "tests")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    named = {
        name
        for path in files
        for name in re.findall(r"thoughts/upstream/([\w-]+)\.md", path.read_text())
    }
    texts = {text.stem for text in TEXTS.glob("*.md")} - {"README", "pull-request"}
    assert named <= texts
    assert texts - named == MET


@pytest.fixture(scope="module")
def upstream():
    return ci_program("upstream.py")


def test_every_text_can_be_tried_again(upstream):
    for path in TEXTS.glob("*.md"):
        if path.stem not in ("README", "pull-request"):
            text = path.read_text()
            assert upstream.program(text)[1], path
            assert upstream.WRONG.search(text)[1].strip(), path
            assert len(re.findall(rf"^{upstream.TRIED}", text, re.M)) == 1, path


@pytest.mark.parametrize(
    ("output", "what"),
    [
        ("[1.  2.]\nlength 7\n", "still wrong"),
        ("[1. 2.]\nlength 8\n", "partly"),
        ("[1. 3.]\nlength 8\n", "mended"),
        ("ModuleNotFoundError: No module named 'torch'\n", "not tried"),
    ],
)
def test_what_an_output_says(upstream, output, what):
    assert upstream.verdict("<!-- wrong:\n[1. 2.]\n/^length 7$/\n-->\n", output)[0] == what
