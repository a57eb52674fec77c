"""The pages in pytensor/docs and the guides: their code runs, and their links lead somewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path
    for pattern in ("*.md", "pytensor/docs/*.md", "examples/**/*.md", "thoughts/**/*.md")
    for path in ROOT.glob(pattern)
    if "node_modules" not in path.parts  # others' pages
)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", ["training_on_a_gpu", "how_fast_is_it", "wrong_numbers_from_xla"])
def test_code_runs(page):
    text = (ROOT / f"pytensor/docs/{page}.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    environment = {k: v for k, v in os.environ.items() if k != "PYTENSOR_FLAGS"}
    subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment | {"JAX_PLATFORMS": "cpu"},
        cwd=ROOT,
        check=True,
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page):
    for target in LINK.findall(page.read_text()):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), target


def test_variables_of_the_guide_are_known():
    """What the guide sets as NAME=value, before a script or in .env, is a setting of train.sh."""
    script = (ROOT / "train.sh").read_text()
    guide = (ROOT / "examples/onnx/onnx-yolo-demo/LAMBDA_CLOUD_SETUP.md").read_text()
    found = set(re.findall(r"\b([A-Z][A-Z0-9_]+)=", guide)) - {"NAME"}
    assert "XLA_CLIENT_MEM_FRACTION" in found
    for name in found:
        assert f'    "{name} ' in script, name
