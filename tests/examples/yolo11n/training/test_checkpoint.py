"""Checkpoints and weight files of the YOLO11n demo."""

import errno
import os

import numpy as np
import pytest
from model import YOLO11n
from safetensors.numpy import save_file
from training.checkpoint import (
    CheckpointError,
    load_checkpoint,
    load_weights,
    save_weights,
    snapshot,
    to_bytes,
    write_atomically,
)

import pytensor

SETTINGS = {"epochs": 3, "lr": 0.01, "classes": ["person", "cell phone"]}


@pytest.fixture(scope="module")
def model():
    return YOLO11n(2)


@pytest.fixture
def state():
    return {
        "w.momentum_buffer": pytensor.shared(np.arange(6, dtype=np.float32).reshape(2, 3)),
        "step": pytensor.shared(np.array(7, dtype=np.int32)),
    }


def save_checkpoint(path, model, state, info):
    save_weights(path, snapshot(model, state), info)


@pytest.fixture
def file(tmp_path, model, state):
    path = tmp_path / "last.safetensors"
    save_checkpoint(path, model, state, {"settings": SETTINGS, "progress": {"best": 0.1 + 0.2}})
    return path


@pytest.mark.slow
def test_round_trip_is_exact(file, model, state):
    other = YOLO11n(2, seed=1)
    target = {n: pytensor.shared(np.zeros_like(v.get_value())) for n, v in state.items()}
    info = load_checkpoint(file, other, target, dict(SETTINGS))
    assert info["progress"] == {"best": 0.1 + 0.2}
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(other.state_dict()[name], value)
    for name, variable in state.items():
        restored = target[name].get_value()
        assert restored.dtype == variable.type.dtype
        assert restored.shape == variable.get_value().shape
        np.testing.assert_array_equal(restored, variable.get_value())


def test_strided_arrays_are_written_in_their_own_order(tmp_path):
    value = np.arange(6, dtype=np.float32).reshape(2, 3).T
    save_weights(tmp_path / "w", {"v": value}, {"k": 1})
    arrays, info = load_weights(tmp_path / "w")
    np.testing.assert_array_equal(arrays["v"], value)
    assert info == {"k": 1}


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, broken):
    path = tmp_path / "last.safetensors"
    (tmp_path / "last.safetensors.part").write_bytes(b"torn")  # of a process that was killed
    write_atomically(path, b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, broken, full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new and longer")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["last.safetensors"]


def test_values_that_are_not_finite_do_not_replace_a_file(file, model, state):
    before = file.read_bytes()
    state["w.momentum_buffer"].set_value(np.full((2, 3), np.inf, dtype=np.float32))
    with pytest.raises(CheckpointError, match=r"momentum_buffer .*not finite"):
        save_checkpoint(file, model, state, {"settings": SETTINGS})
    assert file.read_bytes() == before


def refusal(path, model, state, settings=SETTINGS):
    """Return the one line, which names the file, that says why a checkpoint isn't loaded."""
    with pytest.raises(CheckpointError) as error:
        load_checkpoint(path, model, state, settings)
    text = str(error.value)
    assert "\n" not in text
    assert str(path) in text
    return text


@pytest.mark.parametrize("kept", [0, 1000, -1])
def test_cut_short(file, model, state, kept):
    file.write_bytes(file.read_bytes()[:kept])
    assert "cut short" in refusal(file, model, state)


def test_missing_file_and_folder(tmp_path, model, state):
    assert "no such file" in refusal(tmp_path / "none", model, state)
    refusal(tmp_path, model, state)


def test_weight_file_is_no_checkpoint(tmp_path, model, state):
    save_weights(tmp_path / "own", model.state_dict(), {"epoch": 3})
    save_file({"v": np.zeros(2)}, tmp_path / "other")  # without our metadata
    assert load_weights(tmp_path / "other")[1] == {}
    for name in ("own", "other"):
        assert "a weight file, not a checkpoint" in refusal(tmp_path / name, model, state)


def test_other_settings_are_named(file, model, state):
    said = refusal(file, model, state, SETTINGS | {"lr": 0.02, "mosaic": 1.0})
    assert "other settings" in said
    assert "lr 0.01 instead of 0.02; mosaic None instead of 1.0; repeat the run" in said


def test_settings_that_can_not_change_have_a_way_out(file, model, state):
    saved = SETTINGS | {"epochs": 10, "labels": "one"}
    info = {"settings": saved, "progress": {}}
    for settings, message in [
        (saved | {"epochs": 12}, "epochs 10 instead of 12; the learning rates follow the length"),
        (saved | {"labels": "two"}, "labels 'one' instead of 'two'; pictures or labels of the tra"),
    ]:
        file.write_bytes(to_bytes(file, snapshot(model, state), info))
        said = refusal(file, model, state, settings)
        assert message in said
        assert f"--weights {file.with_name('best.safetensors')}" in said
    file.write_bytes(to_bytes(file, snapshot(model, state), info | {"settings": SETTINGS}))
    load_checkpoint(file, model, state, SETTINGS | {"labels": "two"})  # from before it had them


def test_model_with_other_classes(file, state):
    other = YOLO11n(1)
    before = {name: value.copy() for name, value in other.state_dict().items()}
    assert "not of this YOLO11n" in refusal(file, other, state)
    for name, value in other.state_dict().items():
        np.testing.assert_array_equal(value, before[name])


@pytest.mark.parametrize("change", ["missing", "extra", "shape"])
def test_other_optimizer_state(file, model, state, change):
    if change == "missing":
        del state["step"]
    elif change == "extra":
        state["v"] = pytensor.shared(np.zeros(2, dtype=np.float32))
    else:
        state["step"] = pytensor.shared(np.zeros(2, dtype=np.int32), shape=(2,))
    assert "optimizer state doesn't fit" in refusal(file, model, state)
