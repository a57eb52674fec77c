"""The code of all pages runs, and their links lead somewhere."""

import os
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from training.options import SETTINGS

ROOT = Path(__file__).parents[1]
# Of folders that hold what was installed, built, downloaded or trained here.
OTHERS = {"node_modules", "generated", "build", "datasets", "runs"}
PAGES = sorted(
    path
    for folder in (".", "docs/**", "examples/**", "thoughts/**", "benchmarks")
    for path in ROOT.glob(f"{folder}/*.md")
    if not OTHERS.intersection(path.relative_to(ROOT).parts)
)
# The modules are listed name by name.
NOT_FOR_USERS = {"IdleClock", "Row", "init", "nn", "schedules"}
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")


CONTINUES = "# Continues the block above.\n"


def programs_of(page):
    """Return a page's programs: a block that says so is part of the one above."""
    programs = []
    for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        if code.startswith(CONTINUES):
            programs[-1] += code
        else:
            programs.append(code)
    return programs


PROGRAMS = {
    str(page.relative_to(ROOT)): programs
    for page in PAGES
    if "thoughts" not in page.parts  # .ci/upstream.py runs these
    if (programs := programs_of(page))
}
# test_network_guide runs it, for a minute, and reads its results.
PROGRAMS.pop("docs/pymc_network.md")


NEEDED = re.compile(r"^(?:import|from) (bambi|pymc|pytensor_ml|torch)\b", re.MULTILINE)


@pytest.mark.by_default("docs/wrong_numbers_from_xla.md")
@pytest.mark.slow
@pytest.mark.parametrize("page", PROGRAMS)
def test_code_runs(page, tmp_path):
    """Each program runs by itself in an empty folder; an example's also finds its modules."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTENSOR_FLAGS"}
    environment |= {"JAX_PLATFORMS": "cpu"}
    if page.startswith("examples"):
        environment["PYTHONPATH"] = str((ROOT / page).parent)
    missing = set()
    for code in PROGRAMS[page]:
        needed = NEEDED.findall(code)
        missing |= (absent := {name for name in needed if find_spec(name) is None})
        if not absent:
            warnings = [] if needed else ["-W", "error"]  # these packages' imports warn
            command = [sys.executable, *warnings, "-c", code]
            subprocess.run(command, env=environment, cwd=tmp_path, check=True)
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def heading_anchors(page):
    """Return the anchors that MyST and GitHub give a page's headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_files_of_an_operator():
    """The guide lists every file of the package that knows `topk`."""
    guide = (ROOT / "docs/add_an_operator.md").read_text()
    guide = guide.partition("## All files of one operator")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `(.*?)` \|", guide, re.MULTILINE)
    known = re.compile(r"tensor\.topk\b|dispatch\.topk\b|\bdef topk\(|pt\.topk\(")
    found = {
        str(path.relative_to(ROOT))
        for kind in ("*.py", "*.pyi")
        for path in (ROOT / "pytensor").rglob(kind)
        # The import's converters are files of ONNX's operators, not of ours.
        if "importing" not in path.parts and known.search(path.read_text())
    }
    assert found == {path for path in listed if path.startswith("pytensor/")}
    for path in listed:
        assert "topk" in (ROOT / path).read_text(), path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page):
    for target, anchor in LINK.findall(page.read_text()):
        if "://" not in target and not target.startswith("mailto:"):
            path = page.parent / target if target else page
            assert path.exists(), target
            if anchor and path.suffix == ".md":
                assert anchor in heading_anchors(path), f"{target}#{anchor}"


@pytest.mark.parametrize(
    "module",
    [
        "pytensor.tensor.__extend__",
        "pytensor.tensor.conv",
        "pytensor.tensor.nn",
        "pytensor.layers",
        "pytensor.layers.init",
        "pytensor.optimizers",
        "pytensor.link.onnx",
        "pytensor.link.jax.profiling.report",
        "pytensor.link.jax.parallel.devices",
        "pytensor.link.jax.parallel.prefetch",
        "pytensor.link.jax.mode.store.compilation_cache",
        "pytensor.link.jax.mode.host_memory",
        "pytensor.tensor.collectives",
    ],
)
def test_the_reference_has_every_name(module):
    pages = "\n".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
    listed = {*re.findall(r"^   (\w+)$", pages, re.MULTILINE)}
    assert {*import_module(module).__all__} - listed - NOT_FOR_USERS == set()


def test_variables_of_the_guide_are_known():
    """What the guide sets as NAME=value in .env or before a script is a setting of train.sh."""
    guide = (ROOT / "examples/onnx/onnx-yolo-demo/LAMBDA_CLOUD_SETUP.md").read_text()
    of_others = {"XLA_CLIENT_MEM_FRACTION", "COCO_BASE_URL"}
    found = set(re.findall(r"\b([A-Z][A-Z0-9_]+)=", guide)) - {"NAME"}
    assert of_others < found
    assert found - of_others <= {*SETTINGS}


def test_commands_build_no_page_among_the_files_of_the_demo():
    """It goes beside the model, and so the model lies in a folder below the demo's."""
    text = "\n".join(page.read_text() for page in PAGES)
    models = set(re.findall(r"python -m tools\.build_demo (\S+)", text)) - {"MODEL.onnx"}
    assert models
    assert [model for model in models if "/" not in model] == []
