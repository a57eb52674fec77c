"""Validation by several processes, which are threads here: each takes a share of the pictures."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from data.images import Letterbox
from dataset import Sample
from training import finishing
from training.finishing import Interrupted, Validator
from training.run_folder import TrainingError

from pytensor.link.jax.parallel.devices import Devices

SIZE = 32


class Pictures(list):
    """A data set of single-coloured pictures; of every third one a detector finds nothing."""

    image_size = SIZE

    def __init__(self, count):
        geometry = Letterbox.fit(SIZE, SIZE, SIZE)
        self.image_ids = [10 * k + 3 for k in range(count)]
        super().__init__(
            Sample(np.full((SIZE, SIZE, 3), k, np.uint8), None, None, name, geometry, None, None)
            for k, name in enumerate(self.image_ids)
        )

    def box_counts(self):
        return np.zeros(len(self), int)


def detector(images):
    """Find as many boxes in a picture as its colour says, modulo three."""
    found = np.zeros((len(images), 5, 4), np.float32)
    for row, colour in zip(found, images[:, 0, 0, 0].astype(int), strict=True):
        for box in range(colour % 3):
            row[:, box] = [8 + 12 * box, 4 + colour, 6, 6, 0.5 + colour / 100]
    return found


class Interrupts:
    def check(self):
        pass

    def end_together(self):
        pass


class Process(Devices):
    """One of so many threads that meet at a barrier."""

    def __init__(self, process, parts, barrier):
        super().__init__(1)
        self.process, self.processes = process, len(parts)
        self.parts, self.barrier = parts, barrier

    def local(self):
        return Devices(1)

    def gather(self, rows):
        self.parts[self.process] = rows
        self.barrier.wait(60)
        joined = np.concatenate(self.parts)
        self.barrier.wait(60)
        return joined


@pytest.fixture
def scores(monkeypatch):
    monkeypatch.setattr(finishing, "coco_map", lambda dataset, detections: None)


def score(dataset, devices):
    return Validator(detector, dataset, 2, devices, Interrupts()).score()[1]


@pytest.mark.parametrize(("pictures", "count"), [(7, 2), (2, 3)])
def test_all_processes_get_the_detections_of_one(scores, pictures, count):
    dataset, parts, barrier = Pictures(pictures), [None] * count, threading.Barrier(count)
    expected = score(dataset, Devices(1))
    assert sum(map(len, expected.values())) >= 1
    with ThreadPoolExecutor(count) as pool:
        found = list(pool.map(lambda k: score(dataset, Process(k, parts, barrier)), range(count)))
    for own in found:
        assert [*own] == [*expected] == dataset.image_ids
        for name, rows in own.items():
            np.testing.assert_array_equal(rows, expected[name])


def test_predictions_that_are_not_finite_end_the_run(scores):
    """The averages may overflow while the losses of the weights are finite."""
    interrupts = Interrupts()
    interrupts.before = lambda: "; last is from before"

    def broken(images):
        return np.full((len(images), 5, 4), np.nan, np.float32)

    with pytest.raises(TrainingError, match=r"predict NaN or infinity.*; last is from before"):
        Validator(broken, Pictures(3), 2, Devices(1), interrupts).score()


def test_an_interrupt_ends_the_run_and_not_only_a_share(scores):
    class Stop(Exception):
        pass

    class OfASignal(Interrupts):
        def check(self):
            raise Interrupted

        def end_together(self):
            raise Stop

    with pytest.raises(Stop):
        Validator(detector, Pictures(3), 2, Devices(1), OfASignal()).score()
