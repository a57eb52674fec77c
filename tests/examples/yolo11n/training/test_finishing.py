"""Tests what the end of a training writes into the model's file, and so onto its page's card."""

from types import SimpleNamespace

import numpy as np
import pytest
from tools.build_demo import load_detector
from training import finishing

NAMES = ["person", "cell phone"]
REPORT = {"nodes": 1, "box_difference": 0.0, "score_difference": 0.0}


@pytest.mark.slow
def test_a_trained_model_says_how_well_it_does(finder, tmp_path, monkeypatch):
    """Average precision of each class, as `coco_map` has it: NaN for one that was in no picture."""
    monkeypatch.setattr(finishing, "verify_export", lambda *_: REPORT)
    batch = SimpleNamespace(images=np.zeros((1, 64, 64, 3), np.uint8))
    monkeypatch.setattr(finishing, "val_batches", lambda *_: iter([batch]))
    run = SimpleNamespace(
        options=SimpleNamespace(classes=NAMES, image_size=64, export_onnx=tmp_path / "m.onnx"),
        step=SimpleNamespace(model=finder, averages={}),
        info={"trained_on": "drawn pictures"},
    )
    validator = SimpleNamespace(dataset=range(7), batch_size=1, predict=lambda images: images)
    per_class = {"person": {"map50": np.float64(0.5), "map50_95": 0.25}}
    per_class["cell phone"] = dict.fromkeys(("map50", "map50_95"), np.nan)
    finishing.export(run, validator, per_class)
    _, _, facts = load_detector(run.options.export_onnx)
    assert facts["trainedOn"] == "drawn pictures"
    assert facts["scores"] == {
        "on": "7 pictures of its data that were held out",
        "perClass": {
            "person": {"map50": 0.5, "map50_95": 0.25},
            "cell phone": {"map50": None, "map50_95": None},
        },
    }
