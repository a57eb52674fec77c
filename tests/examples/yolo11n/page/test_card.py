"""``.ci/page.py --facts``: what the page in the repository says of its model."""

import json
import shutil

import pytest
from tools import build_demo
from tools.build_demo import DEMO, PAGE, STYLE, assets_of, runtime_problem

from tests.examples.yolo11n.page.detectors import colour_detector_onnx

CARD = {
    "trained_on": "ten photographs",
    "average_precision": {
        "on": "five others",
        "per_class": {"green thing": {"map50": 0.5, "map50_95": None}},
    },
}


@pytest.fixture
def repository(page_command, tmp_path, monkeypatch):
    """Have the command write into a copy, without the runtime and the drawn samples."""
    if problem := runtime_problem():
        pytest.skip(problem)
    for file in (PAGE, STYLE, page_command.README):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(DEMO / file, tmp_path / file)
    monkeypatch.setattr(page_command, "DEMO", tmp_path)
    monkeypatch.setattr(build_demo, "runtime_script", lambda _: "small();\n")
    monkeypatch.setattr(build_demo, "chosen_assets", lambda *_: {"samples": b"[]"})
    return tmp_path


@pytest.mark.slow
def test_the_command_writes_the_card_and_keeps_it(repository, page_command, tmp_path):
    model, card = tmp_path / "small.onnx", tmp_path / "CARD.json"
    colour_detector_onnx(model, 64, license="CC0-1.0")
    card.write_text(json.dumps(CARD))
    assert page_command.main([str(model), "--facts", str(card)]) == 0
    assert json.loads((repository / "demo_assets/card.json").read_text()) == CARD
    assets = assets_of((repository / "demo_assets/model.js").read_text())
    facts = json.loads(assets["model-info"])["facts"]
    assert (facts["trainedOn"], facts["licence"]) == ("ten photographs", "CC0-1.0")
    wanted = CARD["average_precision"]
    assert facts["scores"] == {"on": wanted["on"], "perClass": wanted["per_class"]}
    # Whatever is built anew from what lies there says the same
    assert page_command.main(["--check"]) == 0
    (repository / "demo_assets/card.json").write_text("{}")
    assert page_command.main(["--check"]) == 1
