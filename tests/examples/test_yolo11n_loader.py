"""Batches of the YOLO11n demo."""

import threading
from pathlib import Path

import numpy as np
import pytest
from augment import Augment
from loader import BatchLoader, val_batches

DATA = Path(__file__).parent / "data"


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_batch_layout(seven):
    loader = BatchLoader(seven, 3, image_size=64, max_boxes=5, augment=Augment())
    batches = list(loader.epoch(0))
    assert len(batches) == len(loader) == 3
    for batch in batches:
        assert batch.images.shape == (3, 3, 64, 64)
        assert batch.images.dtype == np.uint8
        assert batch.images.flags.c_contiguous
        assert batch.boxes.shape == (3, 5, 4)
        assert batch.boxes.dtype == np.float32
        assert batch.classes.shape == (3, 5)
        assert batch.classes.dtype == np.int32
        assert batch.num_boxes.shape == (3,)
        assert batch.num_boxes.dtype == np.int32
        for row, count in enumerate(batch.num_boxes):
            assert not batch.boxes[row, count:].any()
            assert not batch.classes[row, count:].any()
            assert (batch.boxes[row, :count, 2:] > 0).all()


def test_batches_without_augmentation(seven):
    for batch in BatchLoader(seven, 4).epoch(3):
        for row, index in enumerate(batch.indices):
            sample = seven[index]
            np.testing.assert_array_equal(batch.images[row], sample.image.transpose(2, 0, 1))
            count = batch.num_boxes[row]
            np.testing.assert_array_equal(batch.boxes[row, :count], sample.boxes)
            np.testing.assert_array_equal(batch.classes[row, :count], sample.classes)


def test_order_and_filling(seven):
    loader = BatchLoader(seven, 3, seed=2)
    orders = []
    for epoch in range(3):
        indices = np.concatenate([batch.indices for batch in loader.epoch(epoch)])
        assert sorted(indices[:7]) == list(range(7))
        np.testing.assert_array_equal(indices[:7], loader.order(epoch))
        np.testing.assert_array_equal(indices[7:], loader.order(epoch + 1)[:2])
        orders.append(tuple(indices[:7]))
    assert len(set(orders)) == 3
    assert tuple(BatchLoader(seven, 3, seed=3).order(0)) != orders[0]


def test_filler_looks_as_in_the_next_epoch(seven):
    loader = BatchLoader(seven, 3, augment=Augment())
    *_, last = loader.epoch(0)
    first = next(loader.epoch(1))
    np.testing.assert_array_equal(last.images[1:], first.images[:2])
    np.testing.assert_array_equal(last.boxes[1:], first.boxes[:2])


def test_batch_larger_than_the_dataset(seven):
    loader = BatchLoader(seven, 16)
    (batch,) = loader.epoch(0)
    want = np.concatenate([loader.order(0), loader.order(1), loader.order(2)[:2]])
    np.testing.assert_array_equal(batch.indices, want)


@pytest.mark.parametrize("mosaic", [0.0, 0.5])
def test_workers_change_nothing(seven, mosaic):
    settings = {"batch_size": 2, "seed": 4, "augment": Augment(mosaic=mosaic)}
    plain = list(BatchLoader(seven, workers=0, **settings).epoch(1))
    for workers in (1, 3):
        threaded = list(BatchLoader(seven, workers=workers, **settings).epoch(1))
        assert all(same(a, b) for a, b in zip(plain, threaded, strict=True))
    other = list(BatchLoader(seven, workers=0, **settings).epoch(2))
    assert not np.array_equal(plain[0].images, other[0].images)


def test_epochs_differ(seven):
    images = []
    for epoch in range(2):
        batches = BatchLoader(seven, 1, augment=Augment()).epoch(epoch)
        images += [batch.images for batch in batches if batch.indices[0] == 3]
    assert not np.array_equal(*images)


@pytest.mark.parametrize("start", [0, 1, 3, 4])
def test_resume(seven, start):
    loader = BatchLoader(seven, 2, augment=Augment(mosaic=0.5), seed=1)
    whole = list(loader.epoch(5))
    again = BatchLoader(seven, 2, augment=Augment(mosaic=0.5), seed=1)
    tail = list(again.epoch(5, start_batch=start))
    assert len(tail) == 4 - start
    assert all(same(a, b) for a, b in zip(whole[start:], tail, strict=True))


def test_mosaic_until(seven):
    settings = {"batch_size": 7, "seed": 1, "workers": 0}
    closing = BatchLoader(seven, augment=Augment(mosaic=1.0), mosaic_until=2, **settings)
    always = BatchLoader(seven, augment=Augment(mosaic=1.0), **settings)
    never = BatchLoader(seven, augment=Augment(), **settings)
    pairs = ((1, always), (2, never))
    for epoch, other in pairs:
        ours, theirs = next(closing.epoch(epoch)), next(other.epoch(epoch))
        np.testing.assert_array_equal(ours.images, theirs.images)
    assert closing.max_boxes == always.max_boxes > never.max_boxes


def test_too_many_boxes(seven):
    loader = BatchLoader(seven, 2, max_boxes=2)
    with pytest.raises(ValueError, match=r"40\.png has 3 boxes.*max_boxes is 2"):
        list(loader.epoch(0))


def batch_threads():
    return [t for t in threading.enumerate() if t.name.startswith("batches")]


def test_workers_report_errors_and_stop(builder, seven):
    lazy = builder.dataset(cache=False)
    (builder.folder / "50.png").unlink()
    with pytest.raises(OSError, match=r"50\.png has changed"):
        list(BatchLoader(lazy, 2, workers=2).epoch(0))
    assert not batch_threads()
    early = BatchLoader(seven, 1, workers=2).epoch(0)
    next(early)
    assert batch_threads()
    early.close()
    assert not batch_threads()


def test_loader_errors(seven):
    with pytest.raises(ValueError, match="dataset was made for 64"):
        BatchLoader(seven, 2, image_size=320)
    for bad in ({"batch_size": 0}, {"batch_size": 2, "workers": -1}, {"batch_size": 2, "seed": -1}):
        with pytest.raises(ValueError, match="must be positive"):
            BatchLoader(seven, **bad)
    loader = BatchLoader(seven, 2)
    for epoch, start in ((0, 5), (0, -1), (-1, 0)):
        with pytest.raises(ValueError, match="4 batches"):
            loader.epoch(epoch, start)


def test_val_batches(seven):
    batches = list(val_batches(seven, 3))
    assert [len(batch.image_ids) for batch in batches] == [3, 3, 1]
    assert [k for batch in batches for k in batch.image_ids] == seven.image_ids
    for batch in batches:
        assert batch.images.shape == (3, 3, 64, 64)
        assert batch.images.dtype == np.uint8
    last = batches[-1]
    np.testing.assert_array_equal(last.images[0], seven[6].image.transpose(2, 0, 1))
    assert (last.images[1:] == 114).all()
    assert last.geometries == [seven[6].geometry]
    with pytest.raises(ValueError, match="must be positive"):
        next(val_batches(seven, 0))
