"""Batches of the YOLO11n demo."""

import numpy as np
import pytest
from data.augment import Augment
from data.drawing import render
from data.listing import DataError, Part
from data.loader import BatchLoader, epoch_order, make_pools, shared_order, val_batches

from tests.examples.yolo11n.data.pictures import leaves, same_batches

EVERYTHING = Augment(mosaic=0.5, copy_paste=0.5)


@pytest.fixture
def make(seven):
    """Make loaders, and close them after the test."""
    made = []

    def loader(*arguments, dataset=seven, **options):
        made.append(BatchLoader(dataset, *arguments, **{"workers": 0} | options))
        return made[-1]

    yield loader
    for loader in made:
        loader.close()


# ------------------------------------------------------------------------------- contents


def test_batches_without_augmentation(seven, make):
    for batch in make(4).epoch(3):
        for row, index in enumerate(batch.indices):
            sample = seven[index]
            np.testing.assert_array_equal(batch.images[row], sample.image.transpose(2, 0, 1))
            count = batch.num_boxes[row]
            np.testing.assert_array_equal(batch.boxes[row, :count], sample.boxes)
            np.testing.assert_array_equal(batch.classes[row, :count], sample.classes)
            assert not batch.boxes[row, count:].any()
            assert not batch.classes[row, count:].any()


def test_order_and_filling(make):
    loader = make(3, seed=2)
    orders = []
    for epoch in range(3):
        indices = np.concatenate([batch.indices for batch in loader.epoch(epoch)])
        assert sorted(indices[:7]) == list(range(7))
        np.testing.assert_array_equal(indices[:7], loader.order(epoch))
        np.testing.assert_array_equal(indices[7:], loader.order(epoch + 1)[:2])
        orders.append(tuple(indices[:7]))
    assert len(set(orders)) == 3
    assert tuple(make(3, seed=3).order(0)) != orders[0]
    (larger,) = make(16, seed=2).epoch(0)  # than the data set
    np.testing.assert_array_equal(larger.indices, [*orders[0], *orders[1], *orders[2][:2]])


def test_filler_looks_as_in_the_next_epoch(make):
    loader = make(3, augment=Augment())
    *_, last = loader.epoch(0)
    first = next(loader.epoch(1))
    np.testing.assert_array_equal(last.images[1:], first.images[:2])
    np.testing.assert_array_equal(last.boxes[1:], first.boxes[:2])


@pytest.mark.parametrize(("render", "workers"), [(True, 2), (False, 0)])
def test_processes_make_the_rows_of_one(make, render, workers):
    options = {"augment": EVERYTHING, "seed": 1, "render": render, "max_boxes": 12}
    whole = make(4, **options).epoch(0)
    parts = [make(4, **options, workers=workers, rows=range(k, k + 2)) for k in (0, 2)]
    for expected, *own in zip(whole, *(part.epoch(0) for part in parts), strict=True):
        for array, *rows in zip(leaves(expected), *map(leaves, own), strict=True):
            np.testing.assert_array_equal(np.concatenate(rows), array)


SHARES = {"background_share": 0.3, "hard_share": 0.3, "weights": np.arange(7.0)}


@pytest.mark.parametrize("shares", [{}, SHARES])
def test_resume(seven, make, shares):
    options = {"augment": EVERYTHING, "seed": 1, **shares}
    whole = list((loader := make(2, **options)).epoch(5))
    indices = np.concatenate([batch.indices for batch in whole])
    np.testing.assert_array_equal(indices[:7], loader.order(5))
    assert np.isin(indices[:7], seven.background_images()).sum() == 2
    for start in (1, 3, 4):
        tail = list(make(2, **options, workers=2).epoch(5, start_batch=start))
        assert len(tail) == 4 - start
        assert all(map(same_batches, whole[start:], tail))


def test_mosaic_until(make):
    """Things are pasted in the epochs without mosaics, too."""
    joined, alone = (Augment(mosaic=mosaic, copy_paste=0.5) for mosaic in (1.0, 0.0))
    closing = make(7, seed=1, augment=joined, mosaic_until=2)
    always, never = (make(7, seed=1, augment=augment) for augment in (joined, alone))
    for epoch, other in ((1, always), (2, never)):
        ours, theirs = next(closing.epoch(epoch)), next(other.epoch(epoch))
        np.testing.assert_array_equal(ours.images, theirs.images)
    assert closing.max_boxes == always.max_boxes > never.max_boxes


@pytest.mark.parametrize("augment", [None, EVERYTHING])
def test_plans_draw_the_same_images(seven, make, augment):
    settings = {"seed": 5, "augment": augment}
    for drawn, planned in zip(
        make(3, **settings).epoch(0), make(3, render=False, **settings).epoch(0), strict=True
    ):
        assert planned.images is None
        np.testing.assert_array_equal(render(planned.plan, seven.squares), drawn.images)
        assert same_batches(drawn._replace(images=None), planned._replace(plan=None))


# ------------------------------------------------------------------------ which images an epoch has


class Numbers(list):
    """A data set of numbers, with parts, of which every tenth is a background image."""

    def __init__(self, count, *parts):
        super().__init__(range(count))
        self.parts = [Part("", *part) for part in parts]

    def background_images(self):
        return np.arange(0, len(self), 10)


def orders(pools, epochs, seed=1):
    return [shared_order(seed, epoch, pools)[0] for epoch in range(epochs)]


def test_orders_are_those_of_before_there_were_pools():
    pools = make_pools(Numbers(10, (0, 6, 3.0), (6, 10, 1.0)))
    expected = [[2, 1, 4, 4, 0, 9, 8, 5, 2, 3], [0, 0, 0, 1, 0, 0, 0, 0, 1, 0]]
    assert [array.tolist() for array in shared_order(3, 0, pools)] == expected
    assert shared_order(3, 7, pools)[0].tolist() == [1, 5, 4, 8, 3, 3, 0, 2, 6, 2]
    assert make_pools(Numbers(10, (0, 6, None), (6, 10, None))) == ()
    assert epoch_order(3, 7, 10).tolist() == [4, 0, 7, 9, 3, 5, 2, 1, 8, 6]


@pytest.mark.parametrize("parts", [(), ((0, 300, 1.0), (300, 500, 3.0)), ((0, 500, None),)])
def test_background_images_have_their_share_and_come_equally_often(parts):
    dataset, epochs = Numbers(500, *parts), 60
    drawn = orders(make_pools(dataset, background_share=0.13), epochs)
    for order in drawn:
        assert len(order) == 500
        assert (order % 10 == 0).sum() == 65
        if len(parts) == 2:
            assert ((order < 300) & (order % 10 > 0)).sum() == 109  # a quarter of 435, rounded
    counts = np.bincount(np.concatenate(drawn), minlength=500)
    assert set(counts[::10]) == {65 * epochs // 50}
    others = counts[np.arange(500) % 10 > 0]
    if len(parts) < 2:
        assert np.ptp(others) <= 1
    assert len({tuple(order) for order in drawn}) == epochs


def test_hard_images_come_in_proportion_to_their_weights():
    weights, epochs = np.zeros(200), 400
    weights[[3, 44, 111, 199]] = 1, 2, 3.5, 0.01
    weights[50] = 100  # a background image
    pools = make_pools(Numbers(200), background_share=0.1, hard_share=0.2, weights=weights)
    assert [pool.quota for pool in pools] == [140, 20, 40]
    drawn = orders(pools, epochs)
    assert {len(order) for order in drawn} == {200}
    counts = np.bincount(np.concatenate(drawn), minlength=200)
    assert set(counts[::10]) == {epochs}
    rest = np.delete(counts, [*range(0, 200, 10), 3, 44, 111, 199])
    assert np.ptp(rest) <= 1
    expected = 40 * epochs * weights / 6.51
    for place in (3, 44, 111, 199):
        assert counts[place] - rest.mean() == pytest.approx(expected[place], rel=0.01, abs=10)
    # In an epoch, each as often as expected, rounded up or down.
    often = np.bincount(pools[2].draw(1, 0, 5), minlength=200) - 40 * weights / 6.51
    assert (abs(np.delete(often, 50)) < 1).all()


def test_repeats_count_over_all_pools():
    weights = np.ones(30)
    pools = make_pools(
        Numbers(30, (0, 25, 1.0), (25, 30, 2.0)), background_share=0.3, hard_share=0.4,
        weights=weights,
    )  # fmt: skip
    for epoch in range(5):
        order, repeats = shared_order(2, epoch, pools)
        before = [order[:k].tolist().count(index) for k, index in enumerate(order)]
        assert repeats.tolist() == before
        assert max(before) > 1


def test_a_set_of_background_images_alone_leaves_the_rest_to_the_others():
    class Half(Numbers):
        def background_images(self):
            return np.arange(50, 100)

    pools = make_pools(Half(100, (0, 50, 1.0), (50, 100, 9.0)), background_share=0.2)
    assert [(len(pool.indices), pool.quota) for pool in pools] == [(50, 80), (50, 20)]


def test_pools_without_pictures():
    class Without(Numbers):
        def background_images(self):
            return np.empty(0, int)

    with pytest.raises(DataError, match="--background-share: 0 of the 5 training images are back"):
        make_pools(Without(5), background_share=0.1)
    with pytest.raises(DataError, match="--background-share: 1 of the 1 training images are back"):
        make_pools(Numbers(1), background_share=0.1)
    with pytest.raises(DataError, match="--hard-share: all weights"):
        make_pools(Numbers(5), hard_share=0.1, weights=np.zeros(5))


# -------------------------------------------------------------------------------- threads


def test_workers_go_on_across_epochs_and_jumps(make):
    settings = {"seed": 4, "augment": Augment()}
    plain, loader = make(2, **settings), make(2, workers=2, **settings)
    want = {e: list(plain.epoch(e)) for e in (0, 1, 7)}
    assert all(same_batches(a, b) for a, b in zip(want[0], loader.epoch(0), strict=True))
    early = loader.epoch(1)
    assert same_batches(next(early), want[1][0])
    early.close()
    assert all(same_batches(a, b) for a, b in zip(want[7][2:], loader.epoch(7, 2), strict=True))
    for a, b, c, d in zip(loader.epoch(0), loader.epoch(7), want[0], want[7], strict=True):
        assert same_batches(a, c)
        assert same_batches(b, d)


def test_batches_are_the_consumers_to_keep(make):
    loader = make(2, workers=2, augment=Augment())
    kept = list(loader.epoch(0))
    before = [batch.images.copy() for batch in kept]
    for epoch in range(1, 4):
        for batch in loader.epoch(epoch):
            batch.images[:] = 0
    loader.close()
    assert all(np.array_equal(a.images, b) for a, b in zip(kept, before, strict=True))


def test_close_ends_the_threads_and_batches_start_them_anew(seven):
    with BatchLoader(seven, 2, workers=2) as loader:
        first = next(loader.epoch(0))
        threads = list(loader._pool._threads)
        assert threads
    assert not any(thread.is_alive() for thread in threads)
    loader.close()
    assert same_batches(next(loader.epoch(0)), first)
    loader.close()


# --------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("workers", [0, 1])
def test_an_error_waits_for_its_batch(make, workers):
    loader = make(1, max_boxes=2, workers=workers)
    order = list(loader.order(0))
    wrong = order.index(3)
    iterator = loader.epoch(0)
    assert [next(iterator).indices[0] for _ in range(wrong)] == order[:wrong]
    other = next(epoch for epoch in range(1, 9) if loader.order(epoch)[0] != 3)
    assert next(loader.epoch(other)).indices[0] == loader.order(other)[0]
    for _ in range(2):
        with pytest.raises(ValueError, match=r"40\.png has 3 boxes.*max_boxes is 2"):
            list(loader.epoch(0))


def test_a_crowded_mosaic_becomes_one_image(make):
    """The same one in each run; all others stay as they are."""
    free, bound = (
        make(7, max_boxes=most, augment=Augment(mosaic=1.0), seed=1, render=False)
        for most in (None, 3)
    )
    assert free.max_boxes == 8
    crowded = 0
    for epoch in range(3):
        (wide,), (narrow,) = free.epoch(epoch), bound.epoch(epoch)
        assert narrow.boxes.shape == (7, 3, 4)
        for row, count in enumerate(wide.num_boxes):
            joined = [(batch.plan.window[row].any(axis=1)).sum() for batch in (wide, narrow)]
            if count <= 3:
                np.testing.assert_array_equal(wide.boxes[row, :3], narrow.boxes[row])
                assert joined[0] == joined[1]
            else:
                crowded += 1
                assert joined[1] == 1 < joined[0]
                assert narrow.plan.source[row, 0] == narrow.indices[row]
    assert crowded


def test_crowded_note(make):
    assert not make(16, augment=Augment(mosaic=1.0)).crowded_note()
    said = make(240_000, augment=Augment(mosaic=1.0)).crowded_note()
    # 240,000 x 8 boxes x (64 + 16 + 4) cells
    assert said.startswith("40.png has 3 boxes: a training image has room for 8, up to 161 million")
    assert said.endswith("the loss compares in a step; --max-boxes 2 leaves out the 1 with more")


def test_loader_errors(seven):
    for bad in ({"batch_size": 0}, {"batch_size": 2, "workers": -1}, {"batch_size": 2, "seed": -1}):
        with pytest.raises(ValueError, match="must be positive"):
            BatchLoader(seven, **bad)
    loader = BatchLoader(seven, 2)
    for epoch, start in ((0, 5), (0, -1), (-1, 0)):
        with pytest.raises(ValueError, match="4 batches"):
            loader.epoch(epoch, start)


# ------------------------------------------------------------------------------ validation


def test_val_batches(seven):
    batches = list(val_batches(seven, 3))
    assert [len(batch.image_ids) for batch in batches] == [3, 3, 1]
    assert [k for batch in batches for k in batch.image_ids] == seven.image_ids
    for batch in batches:
        assert batch.images.shape == (3, 3, 64, 64)
        assert batch.images.dtype == np.uint8
    shares = [list(val_batches(seven, 3, places)) for places in (range(3), range(3, 7))]
    assert [k for part in shares for batch in part for k in batch.image_ids] == seven.image_ids
    last = batches[-1]
    np.testing.assert_array_equal(last.images[0], seven[6].image.transpose(2, 0, 1))
    assert (last.images[1:] == 114).all()
    assert last.geometries == [seven[6].geometry]
