"""The benchmark of the golden steps: what it takes for agreement."""

import os

import numpy as np
import pytest

pytest.importorskip("jax")
ROW = {"box": 1.0, "cls": 2.0, "dfl": 4.0, "grad_norm_before_clip": 8.0}


@pytest.fixture(scope="module")
def agreement():
    """Load the script as a module; it sets a variable of the environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTENSOR_FLAGS", os.environ.get("PYTENSOR_FLAGS", ""))
        from benchmarks.step import golden_agreement

    return golden_agreement


def run(agreement, monkeypatch, *steps):
    monkeypatch.setattr(agreement, "golden_steps", lambda *_: iter(steps))
    monkeypatch.setattr("sys.argv", ["golden_agreement"])
    agreement.main()


@pytest.fixture(autouse=True)
def golden(agreement, monkeypatch):
    from tests.examples import yolo11n_golden

    rows = {"float32": [ROW] * 5}
    monkeypatch.setattr(yolo11n_golden, "load_json", lambda name: rows)
    monkeypatch.setattr(agreement.step_sides, "use_matmul_precision", lambda choice: None)


def test_largest_difference_of_all_steps(agreement, monkeypatch, capsys):
    run(agreement, monkeypatch, [1, 2, 4, 8], [1, 2.001, 4, 8], [1, 2, 4, 8])
    assert "box 0.0e+00, cls 5.0e-04" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"differ by 1\.0e-02"):
        run(agreement, monkeypatch, [1, 2, 4, 8], [1, 2, 4, 8], [1, 2, 4.04, 8])


def test_nan_is_no_agreement(agreement, monkeypatch):
    with pytest.raises(SystemExit, match="differ by nan"):
        run(agreement, monkeypatch, [1, 2, 4, 8], [1, np.nan, 4, 8], [1, 2, 4, 8])


def test_a_step_that_is_missing(agreement, monkeypatch):
    with pytest.raises(ValueError, match="zip"):
        run(agreement, monkeypatch, [1, 2, 4, 8])
