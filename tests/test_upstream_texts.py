import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXTS = ROOT / "thoughts/upstream"
# Faults that our code meets without working around them.
MET = {
    "float-functions-of-booleans", "jax-dispatch-imports-sparse", "mixed-integers-in-c",
    "neg-of-unsigned-rewrite",
    "pytensor-jax-wrong-sums-on-cpu", "scalar-loop-in-composite", "scan-of-no-steps-shape",
    "sumsqr2dot-of-inputs", "vectorized-sum-of-scalar",
}  # fmt: skip


def test_the_index_names_every_text():
    index = (TEXTS / "README.md").read_text()
    for text in TEXTS.glob("*.md"):
        title = text.read_text().splitlines()[0].removeprefix("# ")
        assert text.name == "README.md" or f"- [{text.name}]({text.name}): {title}\n" in index


def test_workarounds_name_texts_and_texts_are_named():
    files = [p for f in ("pytensor", "examples", "tests") for p in (ROOT / f).rglob("*.py")]
    named = {
        name
        for path in files
        for name in re.findall(r"thoughts/upstream/([\w-]+)\.md", path.read_text())
    }
    texts = {text.stem for text in TEXTS.glob("*.md")} - {"README", "pull-request"}
    assert named <= texts
    assert texts - named == MET
