"""Batches of training and validation images.

Every random choice depends on ``(seed, epoch, index)`` and nothing else, so batches do not change
with the number of workers, and a run that was stopped goes on with the batches it would have had.
"""

import math
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from data.augment import (
    LAYERS,
    Augment,
    Plan,
    make_plan,
    move_regions,
    plan_fields,
    stack_plans,
)
from data.drawing import render
from data.images import FILL
from data.listing import DataError

# Last entry of the seed of an epoch's order. No image has such a number, so the order's stream is
# that of no image's augmentation: to NumPy, [seed, epoch] and [seed, epoch, 0] are the same seed.
ORDER_STREAM = 2**32 - 1

UNCHANGED = Augment(flip=0, hue=0, saturation=0, value=0, scale=0, translate=0)

# The loss has arrays with a number for each pair of a box and a cell of these strides. The user is
# told if a step has more pairs than this.
STRIDES, LARGE = (8, 16, 32), 125e6

# Batches in preparation. Plans need little memory.
AHEAD_DRAWN, AHEAD_PLANNED = 3, 16


class Batch(NamedTuple):
    """A training batch; shapes are the same in every batch of a loader."""

    images: np.ndarray | None  # uint8 (B, 3, S, S); None where the loader does not draw
    boxes: np.ndarray  # float32 (B, max_boxes, 4): cx, cy, w, h as fractions; unused rows zero
    classes: np.ndarray  # int32 (B, max_boxes); unused entries zero
    num_boxes: np.ndarray  # int32 (B,)
    indices: np.ndarray  # int64 (B,): positions in the dataset
    plan: Plan | None = None  # how to draw the images; None where the loader has drawn them
    # Both None where all images are labelled for all classes
    windows: np.ndarray | None = None  # int32 (B, layers, 4): `Plan.window`
    labelled: np.ndarray | None = None  # uint8 (B, layers, classes): 1 if all its things have boxes
    # Both None where the data set has no regions (`dataset.Sample`)
    regions: np.ndarray | None = None  # float32 (B, max_regions, 4): as boxes
    region_classes: np.ndarray | None = None  # int32 (B, max_regions); unused entries zero


@lru_cache(maxsize=8)
def epoch_order(seed, epoch, count):
    """Return the permutation of `count` images in an epoch."""
    order = np.random.default_rng([seed, epoch, ORDER_STREAM]).permutation(count)
    order.setflags(write=False)
    return order


def quotas(shares, count):
    """Split `count` images by shares, into whole numbers of at least 0 that add up to it."""
    exact = np.asarray(shares, float) / sum(shares) * count
    whole = np.floor(exact).astype(int)
    # The largest fractions are rounded up; of equal ones the first.
    whole[np.argsort(whole - exact, kind="stable")[: count - whole.sum()]] += 1
    return whole.tolist()


@dataclass(eq=False)
class Pool:
    """Pictures of which every epoch draws `quota`.

    `indices` are int64 positions in the dataset. Without `weights` all come as often as the
    others; else in proportion to them: they are positive, one for each of `indices`.
    """

    indices: np.ndarray
    quota: int
    weights: np.ndarray | None = None

    def draw(self, seed, epoch, stream):
        """Return the indices that an epoch draws, by a random stream of this pool's own."""
        if self.weights is not None:
            # Systematic sampling with unequal probabilities (Madow, "On the theory of systematic
            # sampling, II", 1949): each comes as often as expected, rounded up or down.
            start = np.random.default_rng([seed, epoch, stream]).random()
            ends = np.cumsum(self.weights)
            points = (np.arange(self.quota) + start) / self.quota * ends[-1]
            return self.indices[np.searchsorted(ends, points)]
        # One permutation after another, without regard to where an epoch ends.
        first, size = epoch * self.quota, len(self.indices)
        rounds = [
            np.random.default_rng([seed, k, stream]).permutation(size)
            for k in range(first // size, -(-(first + self.quota) // size))
        ]
        places = np.concatenate([np.empty(0, int), *rounds])
        return self.indices[places[first % size :][: self.quota]]


def make_pools(dataset, background_share=0.0, hard_share=0.0, weights=None):
    """Divide an epoch among pools of pictures: a tuple, empty where each picture comes once.

    An epoch has as many pictures as the dataset, N:

    1. ``N * background_share`` background images: they are labelled for all classes and show none.
       Each comes as often as the others.
    2. ``N * hard_share`` pictures in proportion to `weights`, numbers of at least 0, one for each
       picture of the dataset.
    3. The rest by the shares of the data sets. Within a set, or all of them if there are no such
       shares, each picture comes as often as the others.

    With a background share, 2 and 3 have no background image, so that the share is exact.
    DataError: a pool that is asked for has no picture.
    """
    shared = any(part.share is not None for part in dataset.parts)
    if not (shared or background_share or hard_share):
        return ()
    count = len(dataset)
    background = dataset.background_images() if background_share else np.empty(0, int)
    others = np.setdiff1d(np.arange(count), background)
    if background_share and not 0 < len(background) < count:
        raise DataError(
            f"--background-share: {len(background)} of the {count} training images are background "
            "images (labelled for all classes, showing none); it needs some, and others; leave the "
            "option out"
        )
    sets = [(others, 1.0)]
    if shared:
        sets = [
            (others[slice(*np.searchsorted(others, [part.start, part.stop]))], part.share)
            for part in dataset.parts
        ]
        sets = [(own, share) for own, share in sets if len(own)]
    rest = 1 - background_share - hard_share
    rest, of_background, of_hard = quotas([rest, background_share, hard_share], count)
    numbers = quotas([share for _, share in sets], rest)
    pools = [Pool(own, quota) for (own, _), quota in zip(sets, numbers, strict=True)]
    if background_share:
        pools.append(Pool(background, of_background))
    if hard_share:
        hard = others[weights[others] > 0]
        if not len(hard):
            raise DataError("--hard-share: all weights of pictures are 0; leave the option out")
        pools.append(Pool(hard, of_hard, weights[hard]))
    return tuple(pools)


@lru_cache(maxsize=8)
def shared_order(seed, epoch, pools):
    """Return an epoch's images, drawn from pools, and how often each has come before in the epoch.

    Both are int64 arrays, as long as the quotas together.
    """
    # A stream of its own for each pool; see ORDER_STREAM.
    drawn = [pool.draw(seed, epoch, ORDER_STREAM - 1 - k) for k, pool in enumerate(pools)]
    order = np.concatenate(drawn)
    count = len(order)
    order = order[epoch_order(seed, epoch, count)]
    repeats = np.empty_like(order)
    by_image = np.argsort(order, kind="stable")
    ranked = order[by_image]
    repeats[by_image] = np.arange(count) - np.searchsorted(ranked, ranked)
    order.setflags(write=False)
    repeats.setflags(write=False)
    return order, repeats


class BatchLoader:
    """Batches of constant shape, in an order that depends on seed and epoch alone.

    Where the dataset joins several data sets with shares, or other shares are given, an epoch has
    as many images as all of them together, split by the shares (`make_pools`): images of a small
    set with a large share come several times, each time drawn again, and each epoch has others of a
    large set with a small share.

    An epoch has ``ceil(n / batch_size)`` batches. If `batch_size` does not divide n, the last
    one is filled up with the first images of the next epoch, as they will appear there (and with
    images of later epochs, where the dataset is smaller than a batch).

    Leaving it as a context manager, or `close`, ends its threads.

    Parameters
    ----------
    dataset, batch_size, seed
    max_boxes : int, optional
        Rows of the box arrays; by default what the dataset and the augmentation can need, if no
        picture comes twice in a mosaic. A mosaic with more boxes becomes its first image alone; an
        image with more is an error.
    augment : Augment, optional
        None leaves the letterboxed images as they are.
    workers : int
        Threads that prepare batches ahead (drawing is compiled and holds no lock); 0 prepares
        each when it is asked for. When an epoch is prepared, they go on with the next one.
    mosaic_until : int, optional
        First epoch without mosaics; None keeps them to the end.
    render : bool
        False leaves the drawing to the device: batches have a plan and no images.
    rows : range, optional
        Rows of each batch of `batch_size` that are made here, where other processes make the
        others; it doesn't change what is in a row. All if not given.
    background_share, hard_share, weights
        As of `make_pools`.

    Attributes
    ----------
    pasted : int
        Most things that are pasted into an image: its plans have this number of layers above four.
    max_regions : int
        Rows of the arrays of regions, as many as needed; 0 where batches have no such arrays. A
        mosaic with more, as of too many boxes, becomes its first image alone.
    """

    def __init__(
        self,
        dataset,
        batch_size,
        *,
        max_boxes=None,
        seed=0,
        augment=None,
        workers=1,
        mosaic_until=None,
        render=True,
        rows=None,
        background_share=0.0,
        hard_share=0.0,
        weights=None,
    ):
        if batch_size < 1 or workers < 0 or seed < 0:
            raise ValueError(
                f"batch_size={batch_size}, workers={workers}, seed={seed}: batch_size must be "
                "positive, workers and seed not negative"
            )
        self.pasted = 0 if augment is None else augment.pasted + augment.held
        self.layers = LAYERS + self.pasted  # of plans
        mosaic = augment is not None and augment.mosaic > 0
        if max_boxes is None:
            needed = (augment.pasted, augment.held) if augment else ()
            max_boxes = dataset.max_boxes(mosaic, *needed)
        self.max_regions = dataset.max_regions(mosaic, self.pasted)
        self.dataset = dataset
        self.batch_size = int(batch_size)
        self.max_boxes = int(max_boxes)
        self.seed = int(seed)
        self.augment = augment
        self.workers = int(workers)
        self.mosaic_until = mosaic_until
        self.render = render
        self.rows = range(self.batch_size) if rows is None else rows
        self._pools = make_pools(dataset, background_share, hard_share, weights)
        self._pool, self._next = None, (0, 0)
        # ((epoch, batch), Batch, futures that fill its rows) of what is in preparation
        self._pending = deque()

    def __len__(self):
        """Return the number of batches of an epoch."""
        return math.ceil(len(self.dataset) / self.batch_size)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        """End the threads. They are started again if batches are asked for after that."""
        self._pending.clear()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def crowded_note(self):
        """Say which image makes the loss slow; return an empty text if none does."""
        cells = sum((self.dataset.image_size // stride) ** 2 for stride in STRIDES)
        pairs = self.batch_size * self.max_boxes * cells
        if pairs < LARGE:
            return ""
        counts = self.dataset.box_counts()
        first, most = int(np.argmax(counts)), max(int(np.quantile(counts, 0.99)), 1)
        return (
            f"{self.dataset.file_name(first)} has {counts[first]} boxes: a training image has room "
            f"for {self.max_boxes}, up to {pairs / 1e6:,.0f} million pairs of boxes and cells that "
            "the loss compares in a step; "
            f"--max-boxes {most} leaves out the {(counts > most).sum()} with more"
        )

    def order(self, epoch):
        """Return the dataset's indices in the order of an epoch: a permutation, without shares."""
        if self._pools:
            return shared_order(self.seed, epoch, self._pools)[0]
        return epoch_order(self.seed, epoch, len(self.dataset))

    def epoch(self, epoch, start_batch=0):
        """Iterate over the batches of an epoch, from batch `start_batch` on.

        Both count from 0. The arrays are the consumer's to keep.
        """
        if epoch < 0 or not 0 <= start_batch <= len(self):
            raise ValueError(
                f"epoch {epoch}, start_batch {start_batch}: an epoch has {len(self)} batches, "
                "both count from 0"
            )
        if self.workers and start_batch < len(self):
            self._prepare_from((epoch, start_batch))
        # The checks above should not wait for the first batch to be asked for.
        return self._iterate(epoch, start_batch)

    def _iterate(self, epoch, start_batch):
        for number in range(start_batch, len(self)):
            yield self._take((epoch, number)) if self.workers else self._now((epoch, number))

    # ------------------------------------------------------------------------------ threads

    def _prepare_from(self, place):
        """Start to prepare the batches from `place` on; drop what was prepared of others."""
        if (self._pending[0][0] if self._pending else self._next) != place:
            for *_, parts in self._pending:
                for part in parts:
                    part.cancel()
            self._pending.clear()
            self._next = place
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="batches")
        while len(self._pending) < (AHEAD_DRAWN if self.render else AHEAD_PLANNED):
            batch = self._empty(self._next)
            # A few images each, so that nobody waits for the slowest.
            count = len(self.rows)
            step = -(-count // (4 * self.workers)) if self.render else count
            parts = [
                self._pool.submit(self._fill, batch, self._next, slice(row, row + step))
                for row in range(0, count, step)
            ]
            self._pending.append((self._next, batch, parts))
            epoch, number = self._next
            self._next = (epoch + 1, 0) if number + 1 == len(self) else (epoch, number + 1)

    def _take(self, place):
        self._prepare_from(place)
        _, batch, parts = self._pending[0]
        for part in parts:
            part.result()
        self._pending.popleft()
        self._prepare_from(self._pending[0][0])
        return batch

    def _now(self, place):
        batch = self._empty(place)
        self._fill(batch, place, slice(0, len(self.rows)))
        return batch

    # ------------------------------------------------------------------------------ contents

    def _shown(self, place, row):
        """Return (epoch, index, repeat) of a row of a whole batch; past the end is the next epoch.

        `repeat` counts how often the image has come before in the epoch.
        """
        (epoch, number), count = place, len(self.dataset)
        position = number * self.batch_size + row
        epoch, position = epoch + position // count, position % count
        index = int(self.order(epoch)[position])
        if not self._pools:
            return epoch, index, 0
        return epoch, index, int(shared_order(self.seed, epoch, self._pools)[1][position])

    def _empty(self, place):
        """Return a batch whose boxes are zero and whose images or plan aren't filled in."""
        rows, size = len(self.rows), self.dataset.image_size
        images = np.empty((rows, 3, size, size), np.uint8) if self.render else None
        plan = None
        if not self.render:
            fields = plan_fields(self.layers)
            plan = Plan(*(np.empty((rows, *shape), dtype) for shape, dtype in fields))
        windows = labelled = regions = region_classes = None
        if self.max_regions:
            regions = np.zeros((rows, self.max_regions, 4), np.float32)
            region_classes = np.zeros((rows, self.max_regions), np.int32)
        if self.dataset.labelled is not None:
            windows = np.empty((rows, self.layers, 4), np.int32)
            labelled = np.empty((rows, self.layers, self.dataset.labelled.shape[1]), np.uint8)
        return Batch(
            images=images,
            boxes=np.zeros((rows, self.max_boxes, 4), np.float32),
            classes=np.zeros((rows, self.max_boxes), np.int32),
            num_boxes=np.zeros(rows, np.int32),
            indices=np.array([self._shown(place, row)[1] for row in self.rows], np.int64),
            plan=plan,
            windows=windows,
            labelled=labelled,
            regions=regions,
            region_classes=region_classes,
        )

    def _fill(self, batch, place, rows):
        """Fill in some rows of a batch."""
        plans = []
        for row in range(*rows.indices(len(self.rows))):
            epoch, index, repeat = self._shown(place, self.rows[row])
            plan, boxes, classes = self._plan(epoch, index, repeat)
            if len(boxes) > self.max_boxes:
                raise ValueError(
                    f"{self.dataset.file_name(index)} has {len(boxes)} boxes in epoch {epoch}, "
                    f"but max_boxes is {self.max_boxes}; raise max_boxes"
                )
            batch.boxes[row, : len(boxes)] = boxes
            batch.classes[row, : len(boxes)] = classes
            batch.num_boxes[row] = len(boxes)
            if self.max_regions:
                regions, classes = move_regions(self.dataset, plan)
                batch.regions[row, : len(regions)] = regions
                batch.region_classes[row, : len(regions)] = classes
            plans.append(plan)
        plan = stack_plans(plans)
        if batch.labelled is not None:
            batch.windows[rows] = plan.window
            batch.labelled[rows] = self.dataset.labelled[plan.source]
        if self.render:
            render(plan, self.dataset.squares, out=batch.images[rows])
        else:
            for ours, theirs in zip(batch.plan, plan, strict=True):
                ours[rows] = theirs

    def _plan(self, epoch, index, repeat):
        # To NumPy a 0 at the end changes no seed: `repeat` matters from the second time on.
        rng = np.random.default_rng([self.seed, epoch, index, repeat])
        if self.augment is None:
            sample = self.dataset[index]
            return make_plan(self.dataset, index, UNCHANGED, rng)[0], sample.boxes, sample.classes
        closing = self.mosaic_until is not None and epoch >= self.mosaic_until
        alone = replace(self.augment, mosaic=0.0)
        pool = self.order(epoch) if self._pools else None
        augment = alone if closing else self.augment
        planned = make_plan(self.dataset, index, augment, rng, pool)
        if len(planned[1]) > self.max_boxes or self._too_many_regions(planned[0]):
            rng = np.random.default_rng([self.seed, epoch, index, repeat])
            planned = make_plan(self.dataset, index, alone, rng, pool)
        return planned

    def _too_many_regions(self, plan):
        return self.max_regions and len(move_regions(self.dataset, plan)[0]) > self.max_regions


class ValBatch(NamedTuple):
    """A validation batch; the first ``len(image_ids)`` images are real, the rest filler."""

    images: np.ndarray  # uint8 (B, 3, S, S)
    image_ids: list
    geometries: list


def val_batches(dataset, batch_size, places=None):
    """Iterate over a dataset in its own order, without augmentation, as `ValBatch`.

    Each has `batch_size` images; the last is filled up with grey ones, which have neither id nor
    geometry.  With `places`, a range, only the images there.
    """
    size = dataset.image_size
    places = range(len(dataset)) if places is None else places
    for start in range(0, len(places), batch_size):
        samples = [dataset[k] for k in places[start : start + batch_size]]
        images = np.full((batch_size, 3, size, size), FILL, dtype=np.uint8)
        for row, sample in enumerate(samples):
            images[row] = sample.image.transpose(2, 0, 1)
        yield ValBatch(images, [s.image_id for s in samples], [s.geometry for s in samples])
