"""Batches of training and validation images.

Every random choice depends on ``(seed, epoch, index)`` and nothing else, so batches do not change
with the number of workers, and a run that was stopped goes on with the batches it would have had.
"""

import math
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from data.augment import LAYERS, Augment, Plan, make_plan, plan_fields, stack_plans
from data.drawing import render
from data.images import FILL

# Last entry of the seed of an epoch's order. Images are numbered from 0, so it keeps the order
# apart from the augmentation of image 0: NumPy takes [seed, epoch] and [seed, epoch, 0] for one.
ORDER_STREAM = 2**32 - 1

UNCHANGED = Augment(**{field.name: 0.0 for field in fields(Augment)})

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


@lru_cache(maxsize=8)
def epoch_order(seed, epoch, count):
    """Permutation of `count` images in an epoch."""
    order = np.random.default_rng([seed, epoch, ORDER_STREAM]).permutation(count)
    order.setflags(write=False)
    return order


class BatchLoader:
    """Batches of constant shape, in an order that depends on seed and epoch alone.

    An epoch has ``ceil(n / batch_size)`` batches. If `batch_size` does not divide n, the last
    one is filled up with the first images of the next epoch, as they will appear there (of the
    epochs after it too, where the dataset is smaller than a batch).

    Leaving it as a context manager, or `close`, ends its threads.

    Parameters
    ----------
    dataset, batch_size, seed
    max_boxes : int, optional
        Rows of the box arrays; by default what the dataset and the augmentation can need. An
        image with more boxes is an error.
    augment : Augment, optional
        None leaves the letterboxed images as they are.
    workers : int
        Threads that prepare batches ahead (drawing is compiled and holds no lock); 0 prepares
        each when it is asked for. They go on into the next epoch as soon as one is prepared.
    mosaic_until : int, optional
        First epoch without mosaics; None keeps them to the end.
    render : bool
        False leaves the drawing to the device: batches have a plan and no images.

    Attributes
    ----------
    pasted : int
        Most things that are pasted into an image: so many layers its plans have above four.
    """

    def __init__(
        self,
        dataset,
        batch_size,
        max_boxes=None,
        seed=0,
        augment=None,
        workers=1,
        mosaic_until=None,
        render=True,
    ):
        if batch_size < 1 or workers < 0 or seed < 0:
            raise ValueError(
                f"batch_size={batch_size}, workers={workers}, seed={seed}: batch_size must be "
                "positive, workers and seed not negative"
            )
        self.pasted = 0 if augment is None else augment.pasted
        if max_boxes is None:
            mosaic = augment is not None and augment.mosaic > 0
            max_boxes = dataset.max_boxes(mosaic, self.pasted)
        self.dataset = dataset
        self.batch_size = int(batch_size)
        self.max_boxes = int(max_boxes)
        self.seed = int(seed)
        self.augment = augment
        self.workers = int(workers)
        self.mosaic_until = mosaic_until
        self.render = render
        self._pool, self._next = None, (0, 0)
        # ((epoch, batch), Batch, futures that fill its rows) of what is in preparation
        self._pending = deque()

    def __len__(self):
        """Number of batches of an epoch."""
        return math.ceil(len(self.dataset) / self.batch_size)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        """End the threads. They are started anew if batches are asked for after that."""
        self._pending.clear()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def order(self, epoch):
        """Permutation of the dataset's indices in an epoch."""
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
        """Have the batches from `place` on in preparation; what was prepared of others goes."""
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
            step = -(-self.batch_size // (4 * self.workers)) if self.render else self.batch_size
            parts = [
                self._pool.submit(self._fill, batch, self._next, slice(row, row + step))
                for row in range(0, self.batch_size, step)
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
        self._fill(batch, place, slice(0, self.batch_size))
        return batch

    # ------------------------------------------------------------------------------ contents

    def _shown(self, place, row):
        """(epoch, index) that a row of a batch shows; places past the epoch are the next's."""
        (epoch, number), count = place, len(self.dataset)
        position = number * self.batch_size + row
        epoch += position // count
        return epoch, int(self.order(epoch)[position % count])

    def _empty(self, place):
        """A batch whose boxes are zero and whose images or plan aren't filled in."""
        rows, size = self.batch_size, self.dataset.image_size
        images = np.empty((rows, 3, size, size), np.uint8) if self.render else None
        plan = None
        if not self.render:
            fields = plan_fields(LAYERS + self.pasted)
            plan = Plan(*(np.empty((rows, *shape), dtype) for shape, dtype in fields))
        return Batch(
            images,
            np.zeros((rows, self.max_boxes, 4), np.float32),
            np.zeros((rows, self.max_boxes), np.int32),
            np.zeros(rows, np.int32),
            np.array([self._shown(place, row)[1] for row in range(rows)], np.int64),
            plan,
        )

    def _fill(self, batch, place, rows):
        """Fill in some rows of a batch."""
        plans = []
        for row in range(*rows.indices(self.batch_size)):
            epoch, index = self._shown(place, row)
            plan, boxes, classes = self._plan(epoch, index)
            if len(boxes) > self.max_boxes:
                raise ValueError(
                    f"{self.dataset.file_name(index)} has {len(boxes)} boxes in epoch {epoch}, "
                    f"but max_boxes is {self.max_boxes}; raise max_boxes"
                )
            batch.boxes[row, : len(boxes)] = boxes
            batch.classes[row, : len(boxes)] = classes
            batch.num_boxes[row] = len(boxes)
            plans.append(plan)
        plan = stack_plans(plans)
        if self.render:
            render(plan, self.dataset.squares, out=batch.images[rows])
        else:
            for ours, theirs in zip(batch.plan, plan, strict=True):
                ours[rows] = theirs

    def _plan(self, epoch, index):
        rng = np.random.default_rng([self.seed, epoch, index])
        if self.augment is None:
            sample = self.dataset[index]
            return make_plan(self.dataset, index, UNCHANGED, rng)[0], sample.boxes, sample.classes
        closing = self.mosaic_until is not None and epoch >= self.mosaic_until
        augment = replace(self.augment, mosaic=0.0) if closing else self.augment
        return make_plan(self.dataset, index, augment, rng)


class ValBatch(NamedTuple):
    """A validation batch; the first ``len(image_ids)`` images are real, the rest filler."""

    images: np.ndarray  # uint8 (B, 3, S, S)
    image_ids: list
    geometries: list


def val_batches(dataset, batch_size):
    """Iterate over a dataset in its own order, without augmentation, as `ValBatch`.

    Each has `batch_size` images; the last is filled up with grey ones, which have neither id nor
    geometry.
    """
    size = dataset.image_size
    for start in range(0, len(dataset), batch_size):
        samples = [dataset[k] for k in range(start, min(start + batch_size, len(dataset)))]
        images = np.full((batch_size, 3, size, size), FILL, dtype=np.uint8)
        for row, sample in enumerate(samples):
            images[row] = sample.image.transpose(2, 0, 1)
        yield ValBatch(images, [s.image_id for s in samples], [s.geometry for s in samples])
