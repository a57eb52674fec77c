"""Differences of variants, seed by seed, in the benchmark of quality."""

import json

import pytest

from benchmarks.training import detection_quality
from benchmarks.training.detection_quality import difference, known_results, record, train


def scores(**values):
    return [{"seed": int(seed[1:]), "map50_95": value} for seed, value in values.items()]


def test_difference_of_equal_seeds():
    # Spread over seeds doesn't count, and a seed that only one side has is left out.
    found = difference(scores(s0=0.1, s1=0.6, s2=0.3), scores(s2=0.2, s1=0.4, s0=0.1, s5=0.9))
    # Mean 0.1, standard deviation 0.1; 4.3027 is Student's t for two degrees of freedom.
    assert found["mean"] == pytest.approx(0.1)
    assert found["high"] - 0.1 == pytest.approx(4.3027 * 0.1 / 3**0.5, rel=1e-4)
    assert found["low"] + found["high"] == pytest.approx(0.2)
    assert found["seeds"] == 3
    found = difference(scores(s0=0.3), scores(s0=0.2))
    assert found == {"mean": pytest.approx(0.1), "low": None, "high": None, "seeds": 1}


def test_results_are_added_to_those_of_a_file(tmp_path):
    def score(seed, value):
        scores = {"map50_95": value, "map50": value}
        return {"seed": seed, **scores, "per_class": {"person": scores}, "train_seconds": 1.0}

    first = {(0, "float32"): score(0, 0.3), (1, "float32"): score(1, 0.4)}
    path, more = tmp_path / "quality.json", {(1, "bf16"): score(1, 0.5), (2, "bf16"): score(2, 0.9)}
    assert known_results(path, ["--epochs", "12"]) == {}
    path.write_text(json.dumps(record(["--epochs", "12"], first)))
    known = known_results(path, ["--epochs", "12"])
    assert known == first
    variants = record([], known | more)["variants"]
    assert variants["float32"]["summary"]["all"]["map50"]["mean"] == pytest.approx(0.35)
    assert variants["bf16"]["difference"]["mean"] == pytest.approx(0.1)
    assert variants["bf16"]["difference"]["seeds"] == 1
    with pytest.raises(SystemExit, match="other settings"):
        known_results(path, ["--epochs", "30"])


def test_an_ended_training_of_other_settings_is_not_taken(tmp_path, monkeypatch):
    """Neither is one on other data; the same is taken without a second training."""
    monkeypatch.setitem(detection_quality.VARIANTS, "none", (["true"], [], {}))
    folder, data = tmp_path / "none/seed0", tmp_path / "data"
    folder.mkdir(parents=True)
    metrics = {"last": {"map50": 0.5}, "train_seconds": 1.0}
    (folder / "metrics.json").write_text(json.dumps(metrics))
    first = train(data, "none", 0, ["--epochs", "12"], tmp_path, False)
    assert train(data, "none", 0, ["--epochs", "12"], tmp_path, True) == first
    for other, settings in ((data, ["--epochs", "30"]), (tmp_path, ["--epochs", "12"])):
        with pytest.raises(SystemExit, match=r"has a training of other settings.*--output-dir"):
            train(other, "none", 0, settings, tmp_path, True)
