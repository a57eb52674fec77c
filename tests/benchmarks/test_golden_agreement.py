"""The benchmark of the golden steps: what it takes for agreement."""

import os

import numpy as np
import pytest

pytest.importorskip("jax")
ROW = {"box": 1.0, "cls": 2.0, "dfl": 4.0, "grad_norm_before_clip": 8.0}


@pytest.fixture
def agree(monkeypatch):
    """Return a function that runs the program for what some steps computed."""
    from tests.examples import yolo11n_golden

    # It sets a variable of the environment.
    monkeypatch.setenv("PYTENSOR_FLAGS", os.environ.get("PYTENSOR_FLAGS", ""))
    from benchmarks.step import golden_agreement

    monkeypatch.setattr(yolo11n_golden, "load_json", lambda name: {"float32": [ROW] * 5})
    monkeypatch.setattr(golden_agreement.step_sides, "use_matmul_precision", lambda choice: None)
    monkeypatch.setattr("sys.argv", ["golden_agreement"])

    def run(*losses):
        steps = [[1, 2, loss, 8] for loss in losses]
        monkeypatch.setattr(golden_agreement, "golden_steps", lambda *_: iter(steps))
        golden_agreement.main()

    return run


def test_the_largest_difference_of_all_steps_counts(agree, capsys):
    agree(4, 4.002, 4)
    assert "cls 0.0e+00, dfl 5.0e-04" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"differ by 1\.0e-02"):
        agree(4, 4.04, 4)


def test_nan_and_a_missing_step_are_no_agreement(agree):
    with pytest.raises(SystemExit, match="differ by nan"):
        agree(4, np.nan, 4)
    with pytest.raises(ValueError, match="zip"):
        agree(4)
