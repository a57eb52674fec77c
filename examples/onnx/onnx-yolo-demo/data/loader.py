"""Batches of training and validation images.

Every random choice depends on ``(seed, epoch, index)`` and nothing else, so batches do not change
with the number of workers, and a run that was stopped goes on with the batches it would have had.
"""

import math
import time
import weakref
from typing import NamedTuple

import numpy as np
from data.augment import Plan
from data.batch_workers import LoaderError, Preparer, Settings, Workers, epoch_order
from data.images import FILL

__all__ = ["Batch", "BatchLoader", "LoaderError", "ValBatch", "val_batches"]


class Batch(NamedTuple):
    """A training batch; shapes are the same in every batch of a loader."""

    images: np.ndarray | None  # uint8 (B, 3, S, S); None where the loader does not draw
    boxes: np.ndarray  # float32 (B, max_boxes, 4): cx, cy, w, h as fractions; unused rows zero
    classes: np.ndarray  # int32 (B, max_boxes); unused entries zero
    num_boxes: np.ndarray  # int32 (B,)
    indices: np.ndarray  # int64 (B,): positions in the dataset
    plan: Plan | None = None  # how to draw the images; None where the loader has drawn them


class BatchLoader:
    """Batches of constant shape, in an order that depends on seed and epoch alone.

    An epoch has ``ceil(n / batch_size)`` batches. If `batch_size` does not divide n, the last
    one is filled up with the first images of the next epoch, as they will appear there (of the
    epochs after it too, where the dataset is smaller than a batch).

    It is a context manager; leaving it, `close`, or the end of the program end its workers.

    Parameters
    ----------
    dataset : Dataset
        With a cache, in memory or on disk.
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
        Processes that prepare batches ahead; 0 prepares each in this one when it is asked for.
        They start with the first call of `epoch` and stay, and go on into the next epoch as
        soon as one is prepared.
    mosaic_until : int, optional
        First epoch without mosaics; None keeps them to the end.
    render : bool
        False leaves the drawing to the device: batches have a plan and no images.
    part : (int, int)
        ``(p, n)`` gives the p-th of n equal blocks of the rows of every batch, counted from 0:
        for n hosts that share batches.

    Attributes
    ----------
    waited_s : float
        Seconds that the consumer has waited for batches in the epoch it is in, or was last.
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
        render=True,
        part=(0, 1),
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
        place, parts = part
        if not 0 <= place < parts or batch_size % parts:
            raise ValueError(
                f"part={part}, batch_size={batch_size}: a part (p, n) is one of n equal blocks "
                "of a batch, with p from 0 to n - 1; n must divide batch_size"
            )
        if max_boxes is None:
            max_boxes = dataset.max_boxes_with(mosaic=augment is not None and augment.mosaic > 0)
        self.dataset = dataset
        self.batch_size = int(batch_size)
        self.image_size = dataset.image_size
        self.seed = int(seed)
        self.augment = augment
        self.workers = int(workers)
        self.mosaic_until = mosaic_until
        self.max_boxes = int(max_boxes)
        self.waited_s = 0.0
        rows = self.batch_size // parts
        settings = Settings(
            self.batch_size, place * rows, rows, self.max_boxes, self.seed, augment, mosaic_until,
            render,
        )  # fmt: skip
        self._preparer = Preparer(dataset, settings)
        self._pool, self._end_pool = None, None

    def __len__(self):
        """Number of batches of an epoch."""
        return math.ceil(len(self.dataset) / self.batch_size)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        """End the workers. They are started anew if batches are asked for after that."""
        if self._pool is not None:
            self._end_pool()
            self._pool = None

    @property
    def worker_pids(self):
        """Process ids of the workers; none before the first epoch and after `close`."""
        return [worker.process.pid for worker in self._pool.workers] if self._pool else []

    def order(self, epoch):
        """Permutation of the dataset's indices in an epoch."""
        return epoch_order(self.seed, epoch, len(self.dataset))

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
            Arrays that are the consumer's to keep.

        Raises
        ------
        ValueError
            `start_batch` is beyond the epoch, or an image has more than `max_boxes` boxes. What
            goes wrong in a worker is raised here, with its traceback as a note.
        LoaderError
            A worker has ended, or there is no room for the shared memory.
        """
        if epoch < 0 or not 0 <= start_batch <= len(self):
            raise ValueError(
                f"epoch {epoch}, start_batch {start_batch}: an epoch has {len(self)} batches, "
                "both count from 0"
            )
        if self.workers and start_batch < len(self):
            self._ask(Workers.seek, epoch, start_batch)
        # The checks above should not wait for the first batch to be asked for.
        return self._iterate(epoch, start_batch)

    def _ask(self, method, epoch, batch):
        """Call a method of the workers, which are started if there are none."""
        if self._pool is None:
            self._pool = Workers(self.dataset, self._preparer, self.workers, len(self))
            self._end_pool = weakref.finalize(self, self._pool.stop)
        try:
            return method(self._pool, epoch, batch)
        except BaseException:
            # An interrupt may have come between the halves of a message.
            self.close()
            raise

    def _iterate(self, epoch, start_batch):
        self.waited_s = 0.0
        for batch in range(start_batch, len(self)):
            start = time.perf_counter()
            prepared = self._batch(epoch, batch)
            self.waited_s += time.perf_counter() - start
            yield prepared

    def _batch(self, epoch, batch):
        if self.workers:
            arrays = self._ask(Workers.get, epoch, batch)
        else:
            layout = self._preparer.layout.items()
            arrays = {name: np.empty(shape, dtype) for name, (shape, dtype) in layout}
            self._preparer.fill(arrays, epoch, batch, 0, self._preparer.settings.num_rows)
        rows = range(self._preparer.settings.num_rows)
        indices = [self._preparer.place(epoch, batch, row)[1] for row in rows]
        plan = None if "images" in arrays else Plan(*(arrays[name] for name in Plan._fields))
        return Batch(
            arrays.get("images"), arrays["boxes"], arrays["classes"], arrays["num_boxes"],
            np.array(indices, dtype=np.int64), plan,
        )  # fmt: skip


class ValBatch(NamedTuple):
    """A validation batch; the first ``len(image_ids)`` images are real, the rest filler."""

    images: np.ndarray  # uint8 (B, 3, S, S)
    image_ids: list
    geometries: list


def val_batches(dataset, batch_size):
    """Iterate over a dataset in its own order, without augmentation.

    Parameters
    ----------
    dataset : Dataset
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
