"""Tests what the end of a training writes into the model's file, and so onto its page's card."""

from types import SimpleNamespace

import numpy as np
import pytest
from tools.build_demo import load_detector
from training import finishing

import pytensor

NAMES = ["person", "cell phone"]
REPORT = {"nodes": 1, "box_difference": 0.0, "score_difference": 0.0}


@pytest.mark.parametrize(("score", "learned"), [(0.0, False), (0.009, False), (0.02, True)])
def test_a_model_that_has_learned_nothing_is_called_so(tmp_path, score, learned):
    best = {"map50": score, "map50_95": score / 2}
    line = finishing.outcome(best, 3, ", measured", 12, tmp_path)
    if learned:
        said = "best weights (epoch 3), measured: mAP@0.5 0.0200, mAP@0.5:0.95 0.0100 on 12 held"
        assert line.startswith(said)
    else:
        assert line.startswith(f"the model has learned nothing: mAP@0.5 is {score:.4f} on 12 held-")
        assert str(tmp_path / "results.png") in line


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


def test_the_page_is_announced_before_the_work(tmp_path, monkeypatch, capsys):
    options = SimpleNamespace(export_onnx=tmp_path / "m.onnx", own_data=True, samples=False)
    run = SimpleNamespace(
        options=options, loader=SimpleNamespace(dataset=None), folder=SimpleNamespace(path=tmp_path)
    )
    monkeypatch.setattr(finishing, "quantize", lambda *_: print("quantized"))
    monkeypatch.setattr(finishing, "build_page", lambda *_: print("built"))
    finishing.write_page(run, None, 0.5)
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("building the browser page")
    assert others == ["quantized", "built"]


@pytest.mark.parametrize(("measured", "kept"), [(0.6, True), (0.5, True), (0.4, False)])
def test_statistics_are_measured_again_unless_validation_is_worse(measured, kept):
    average = pytensor.shared(np.zeros(2))
    scores = {0.0: 0.5, 1.0: measured}
    run = SimpleNamespace(
        step=SimpleNamespace(averages={"mean": average}, place_variables=lambda: None)
    )
    validator = SimpleNamespace(
        score=lambda: ({"map50_95": scores[average.get_value()[0]]}, "detections")
    )
    best, _, is_measured = finishing.score_averages(
        run, validator, lambda: average.set_value(np.ones(2)), {"map50_95": 0.5}
    )
    assert (best["map50_95"], is_measured) == (max(measured, 0.5), kept)
    assert average.get_value()[0] == kept
