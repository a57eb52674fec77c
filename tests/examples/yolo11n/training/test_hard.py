"""Images that the starting weights get wrong: how they are found, written and read."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from training import hard
from training.hard import count_mistakes, find_hard, read_weights, to_csv
from training.run_folder import TrainingError

from pytensor.link.jax.parallel.devices import Devices
from tests.examples.yolo11n.training.test_validator import Process


@pytest.fixture
def dataset(builder):
    """Make five images of 64 px: a person, two phones, none, a crowd, one labelled for persons."""
    boxes = [
        [(1, 0, 0, 32, 32)], [(77, 0, 0, 16, 16), (77, 32, 32, 16, 16)], [],
        [(1, 0, 0, 64, 64, 1)], [(1, 0, 0, 32, 32)],
    ]  # fmt: skip
    for own in boxes:
        builder.add(64, 64, own)
    builder.images[4]["complete"] = [1]
    return builder.dataset()


PERSON, PHONE = 0, 1
FOUND = {
    10: [(0, 0, 32, 30, 0.9, PERSON)],
    20: [(0, 0, 16, 16, 0.5, PHONE), (40, 0, 60, 30, 0.75, PERSON)],
    30: [(0, 0, 20, 20, 0.5, PHONE), (30, 30, 50, 50, 0.25, PERSON)],
    40: [(10, 10, 30, 30, 0.9, PERSON)],
    50: [(40, 40, 60, 60, 0.9, PHONE)],
}
COUNTS = [[0, 0], [1, 0.75], [0, 0.75], [0, 0], [1, 0]]


def detections(names):
    return {name: np.array(FOUND[name], np.float32) for name in names}


def test_misses_and_false_detections_of_each_image(dataset):
    counts = count_mistakes(dataset, detections(FOUND))
    assert counts.dtype == np.float32
    assert counts.tolist() == COUNTS


def test_the_file_says_how_much_each_image_weighs(dataset):
    text = to_csv(dataset, np.array(COUNTS, np.float32))
    assert text.splitlines() == [
        "picture,missed,false,error,weight",
        "10.png,0,0,0,0",
        "20.png,1,0.75,0.875,0.875",
        "30.png,0,0.75,0.75,0.75",
        "40.png,0,0,0,0",
        "50.png,1,0,1,0.9875",  # no more than the 95th percentile
    ]
    assert read_weights(text, dataset).tolist() == [0, 0.875, 0.75, 0, 0.9875]
    assert read_weights(text, dataset).dtype == np.float64


def test_files_that_are_of_no_use(dataset):
    text = to_csv(dataset, np.array(COUNTS, np.float32))
    for other in (text.replace("30.png", "31.png"), text.rpartition("50.png")[0], ""):
        with pytest.raises(TrainingError, match="other pictures than the training set's 5"):
            read_weights(other, dataset)
    with pytest.raises(TrainingError, match="--hard-share: the starting weights make no mistake"):
        to_csv(dataset, np.zeros((5, 2), np.float32))


def test_without_the_option_and_resumed(tmp_path):
    folder = SimpleNamespace(path=tmp_path)
    assert find_hard(SimpleNamespace(hard_share=0), folder, None, None, None) is None
    resumed = SimpleNamespace(hard_share=0.5, resume=True)
    with pytest.raises(TrainingError, match=r"--hard-share: .*hard\.csv is missing"):
        find_hard(resumed, folder, None, None, None)
    (tmp_path / "hard.csv").write_text("as it was")
    assert find_hard(resumed, folder, None, None, None) == "as it was"


@pytest.mark.parametrize("count", [1, 3])
def test_processes_find_the_same(dataset, tmp_path, monkeypatch, capsys, count):
    """Each looks for mistakes in its own images; here, all get the same detections."""
    asked, lock = [], threading.Lock()

    def one_at_a_time(*arguments):
        with lock:  # pycocotools' prints are caught for all threads
            return count_mistakes(*arguments)

    def detect(detector, dataset, rows, progress, places, suppression):
        asked.append([*places])
        assert (detector, rows) == ("detector", 12 // count)
        assert suppression == (0.25, 0.45, False)
        return detections([dataset.image_ids[k] for k in places])

    monkeypatch.setattr(hard, "compile_detector", lambda model, size, rows, mode: "detector")
    monkeypatch.setattr(hard, "detect", detect)
    monkeypatch.setattr(hard, "count_mistakes", one_at_a_time)
    o = SimpleNamespace(hard_share=0.5, resume=False, batch_size=12, image_size=64, mode="JAX")
    folder = SimpleNamespace(path=tmp_path)
    parts, barrier = [None] * count, threading.Barrier(count)

    def one(number):
        devices = Devices(1) if count == 1 else Process(number, parts, barrier)
        devices.count = count
        return find_hard(o, folder, None, dataset, devices)

    with ThreadPoolExecutor(count) as pool:
        texts = {*pool.map(one, range(count))}
    assert texts == {to_csv(dataset, np.array(COUNTS, np.float32))}
    assert sorted(place for own in asked for place in own) == [0, 1, 2, 3, 4]
    assert "make mistakes in 3 of 5 training images" in capsys.readouterr().out
