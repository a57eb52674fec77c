"""Batches of training and validation images.

Every random choice depends on ``(seed, epoch, index)`` and nothing else, so batches do not change
with the number of workers, and a run that was stopped goes on with the batches it would have had.
"""

import math
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from augment import Augment, augment_sample
from images import FILL

# Last entry of the seed of an epoch's order. Images are numbered from 0, so it keeps the order
# apart from the augmentation of image 0: NumPy takes [seed, epoch] and [seed, epoch, 0] for one.
ORDER_STREAM = 2**32 - 1


class Batch(NamedTuple):
    """A training batch; shapes are the same in every batch of a loader."""

    images: np.ndarray  # uint8 (B, 3, S, S)
    boxes: np.ndarray  # float32 (B, max_boxes, 4): cx, cy, w, h as fractions; unused rows zero
    classes: np.ndarray  # int32 (B, max_boxes); unused entries zero
    num_boxes: np.ndarray  # int32 (B,)
    indices: np.ndarray  # int64 (B,): positions in the dataset


class BatchLoader:
    """Batches of constant shape, in an order that depends on seed and epoch alone.

    An epoch has ``ceil(n / batch_size)`` batches. If `batch_size` does not divide n, the last
    one is filled up with the first images of the next epoch, as they will appear there (of the
    epochs after it too, where the dataset is smaller than a batch).

    Parameters
    ----------
    dataset : CocoDataset
    batch_size : int
    image_size : int, optional
        Checked against the dataset's.
    max_boxes : int, optional
        Rows of the box arrays; by default what the dataset and the augmentation can need. An
        image with more boxes is an error.
    seed : int
    augment : Augment, optional
        None leaves the letterboxed images as they are.
    workers : int
        Threads that prepare batches ahead; 0 prepares each when it is asked for. Pillow and
        NumPy release the interpreter lock for most of the work.
    mosaic_until : int, optional
        First epoch without mosaics; None keeps them to the end.
    """

    def __init__(
        self,
        dataset,
        batch_size,
        image_size=None,
        max_boxes=None,
        seed=0,
        augment=None,
        workers=1,
        mosaic_until=None,
    ):
        if image_size is not None and image_size != dataset.image_size:
            raise ValueError(
                f"image_size is {image_size}, but the dataset was made for {dataset.image_size}"
            )
        if batch_size < 1 or workers < 0 or seed < 0:
            raise ValueError(
                f"batch_size={batch_size}, workers={workers}, seed={seed}: batch_size must be "
                "positive, workers and seed not negative"
            )
        self.dataset = dataset
        self.batch_size = int(batch_size)
        self.image_size = dataset.image_size
        self.seed = int(seed)
        self.augment = augment
        self.workers = int(workers)
        self.mosaic_until = mosaic_until
        if max_boxes is None:
            max_boxes = dataset.max_boxes_with(mosaic=augment is not None and augment.mosaic > 0)
        self.max_boxes = int(max_boxes)

    def __len__(self):
        """Number of batches of an epoch."""
        return math.ceil(len(self.dataset) / self.batch_size)

    def order(self, epoch):
        """Permutation of the dataset's indices in an epoch."""
        rng = np.random.default_rng([self.seed, epoch, ORDER_STREAM])
        return rng.permutation(len(self.dataset))

    def _schedule(self, epoch):
        """(epoch, index) of every place of an epoch's batches."""
        places = []
        while len(places) < len(self) * self.batch_size:
            places += [(epoch, int(index)) for index in self.order(epoch)]
            epoch += 1
        return places[: len(self) * self.batch_size]

    def _sample(self, epoch, index):
        if self.augment is None:
            sample = self.dataset[index]
            return sample.image, sample.boxes, sample.classes
        augment = self.augment
        if self.mosaic_until is not None and epoch >= self.mosaic_until:
            augment = Augment(**{**vars(augment), "mosaic": 0.0})
        rng = np.random.default_rng([self.seed, epoch, index])
        return augment_sample(self.dataset, index, augment, rng)

    def _batch(self, places):
        size, count = self.image_size, len(places)
        images = np.empty((count, 3, size, size), dtype=np.uint8)
        boxes = np.zeros((count, self.max_boxes, 4), dtype=np.float32)
        classes = np.zeros((count, self.max_boxes), dtype=np.int32)
        num_boxes = np.zeros(count, dtype=np.int32)
        for row, (epoch, index) in enumerate(places):
            image, found, labels = self._sample(epoch, index)
            if len(found) > self.max_boxes:
                raise ValueError(
                    f"{self.dataset.file_name(index)} has {len(found)} boxes in epoch {epoch}, "
                    f"but max_boxes is {self.max_boxes}; raise max_boxes"
                )
            images[row] = image.transpose(2, 0, 1)
            boxes[row, : len(found)] = found
            classes[row, : len(found)] = labels
            num_boxes[row] = len(found)
        indices = np.array([index for _, index in places], dtype=np.int64)
        return Batch(images, boxes, classes, num_boxes, indices)

    def epoch(self, epoch, start_batch=0):
        """Iterate over the batches of an epoch.

        Parameters
        ----------
        epoch : int
            From 0.
        start_batch : int
            First batch wanted; the batches are those of the unbroken epoch from there on.

        Yields
        ------
        Batch

        Raises
        ------
        ValueError
            `start_batch` is beyond the epoch, or an image has more than `max_boxes` boxes. What
            goes wrong in a worker is raised here.
        """
        if epoch < 0 or not 0 <= start_batch <= len(self):
            raise ValueError(
                f"epoch {epoch}, start_batch {start_batch}: an epoch has {len(self)} batches, "
                "both count from 0"
            )
        # The checks above should not wait for the first batch to be asked for.
        return self._iterate(epoch, start_batch)

    def _iterate(self, epoch, start_batch):
        places = self._schedule(epoch)
        step = self.batch_size
        jobs = (places[k * step : (k + 1) * step] for k in range(start_batch, len(self)))
        if not self.workers:
            yield from map(self._batch, jobs)
            return
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="batches")
        pending = deque()
        try:
            for job in jobs:
                pending.append(pool.submit(self._batch, job))
                if len(pending) > self.workers + 1:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            # Also reached when the consumer stops early and the generator is closed.
            pool.shutdown(wait=True, cancel_futures=True)


class ValBatch(NamedTuple):
    """A validation batch; the first ``len(image_ids)`` images are real, the rest filler."""

    images: np.ndarray  # uint8 (B, 3, S, S)
    image_ids: list
    geometries: list


def val_batches(dataset, batch_size):
    """Iterate over a dataset in its own order, without augmentation.

    Parameters
    ----------
    dataset : CocoDataset
    batch_size : int

    Yields
    ------
    ValBatch
        Always `batch_size` images; the last batch is filled up with grey ones, for which it
        has neither id nor geometry.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}; it must be positive")
    size = dataset.image_size
    for start in range(0, len(dataset), batch_size):
        samples = [dataset[k] for k in range(start, min(start + batch_size, len(dataset)))]
        images = np.full((batch_size, 3, size, size), FILL, dtype=np.uint8)
        for row, sample in enumerate(samples):
            images[row] = sample.image.transpose(2, 0, 1)
        yield ValBatch(images, [s.image_id for s in samples], [s.geometry for s in samples])
