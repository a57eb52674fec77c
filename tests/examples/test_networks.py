"""The gallery of networks: each trains, and runs in onnxruntime after its export."""

import io
import tokenize
from pathlib import Path

import pytest

from tests.examples.conftest import run_python

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "networks"
SCRIPTS = pytest.mark.parametrize("script", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
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


def test_networks_are_short():
    for path in FOLDER.glob("*.py"):
        assert 30 <= sum(bool(line.strip()) for line in path.read_text().splitlines()) <= 60, path


# Two batches instead of a training.
SHORT = """
import runpy, sys
from itertools import islice
from pytensor import layers
fit = layers.fit
layers.fit = lambda step, batches, epochs, **rest: fit(step, [*islice(batches, 2)], 1, **rest)
runpy.run_path(sys.argv[1])
"""


@pytest.mark.slow
@SCRIPTS
def test_networks_train_and_run_in_onnxruntime(script, tmp_path):
    """After two batches a network misses its target, which is all that may be wrong."""
    done = run_python(["-c", SHORT, script], tmp_path, JAX_DISABLE_MOST_OPTIMIZATIONS="1")
    assert not done.returncode or done.stderr.splitlines()[-1].count(" target ") == 1, done.stderr
    assert ".onnx" in done.stdout.splitlines()[-1]
    assert [*tmp_path.glob("*.onnx")]


@pytest.mark.long
@SCRIPTS
def test_networks_reach_their_targets(script, tmp_path):
    """A script fails if its network is worse than its target."""
    done = run_python([script], tmp_path)
    assert done.returncode == 0, done.stderr
