"""The gallery of networks: each trains, and runs in onnxruntime after its export."""

import io
import os
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "networks"
LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


def test_the_guide_shows_the_example_and_it_is_short():
    block = (ROOT / "docs/layers.md").read_text().split("```python\n")[1].partition("```")[0]
    assert block.partition("config.floatX")[2] in (FOLDER / "resnet_digits.py").read_text()
    tokens = tokenize.generate_tokens(io.StringIO(block).readline)
    assert sum(token.type not in LAYOUT for token in tokens) <= 400
    assert sum(bool(line.strip()) for line in block.splitlines()) <= 20


@pytest.mark.long
@pytest.mark.parametrize("script", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_networks_reach_their_targets(script, tmp_path):
    """A script fails if its network is worse than its target."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTENSOR_FLAGS"}
    environment |= {"JAX_PLATFORMS": "cpu", "PYTHONWARNINGS": "error"}
    subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, check=True)
    assert [*tmp_path.glob("*.onnx")]
