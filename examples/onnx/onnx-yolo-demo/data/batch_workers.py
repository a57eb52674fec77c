"""Processes that prepare training batches, in memory that they share with the consumer.

For Linux and macOS.

- They are started as plain interpreters: forking is not safe once JAX has started threads, and
  multiprocessing's "spawn" would run the training script's imports, JAX among them, in each.
- The memory has no name, so none can be left behind. It is not taken from /dev/shm, so the limit
  that containers set for that folder does not apply.
- Tasks go through one pipe that all workers read, a few images each, so that nobody waits for the
  slowest. Each worker answers through a socket of its own. The end of a process, on either side,
  closes its sockets, so the other side notices at once.
"""

import contextlib
import math
import mmap
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import weakref
from collections import deque
from dataclasses import astuple, fields, replace
from functools import cached_property, lru_cache
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NamedTuple

import numpy as np
from data.augment import PLAN_FIELDS, Augment, Plan, make_plan, render, stack_plans
from data.images import Letterbox
from dataset import Sample, open_shared

# Last entry of the seed of an epoch's order. Images are numbered from 0, so it keeps the order
# apart from the augmentation of image 0: NumPy takes [seed, epoch] and [seed, epoch, 0] for one.
ORDER_STREAM = 2**32 - 1

UNCHANGED = Augment(**{field.name: 0.0 for field in fields(Augment)})

# Batches in preparation, at least. Plans need little memory.
AHEAD_DRAWN, AHEAD_PLANNED = 3, 16
# Batches whose images the consumer can hold without a copy: the one of the running step, the
# next, and the one that is fetched meanwhile.
LENT = 3

# Slot, ticket, epoch, batch, first row, end. Writes and reads this short are not torn by others
# at the same pipe.
TASK = struct.Struct("=6q16x")


class LoaderError(RuntimeError):
    """The processes that prepare batches cannot go on."""


# ------------------------------------------------------------------------- what a batch holds


@lru_cache(maxsize=8)
def epoch_order(seed, epoch, count):
    """Permutation of `count` images in an epoch."""
    order = np.random.default_rng([seed, epoch, ORDER_STREAM]).permutation(count)
    order.setflags(write=False)
    return order


class Settings(NamedTuple):
    """All that the batches of a data set depend on."""

    batch_size: int
    first_row: int  # of this part of every batch
    num_rows: int
    max_boxes: int
    seed: int
    augment: Augment | None
    mosaic_until: int | None
    render: bool


class _WorkerData:
    """What workers need of a data set, used like the data set; quickly sent.

    The pictures are not sent: `squares` is to be set where it arrives.
    """

    def __init__(self, dataset):
        self.image_size = dataset.image_size
        samples = [dataset[k]._replace(image=None) for k in range(len(dataset))]
        self.names = [dataset.file_name(k) for k in range(len(dataset))]
        # Few large arrays: half a million small ones would take seconds to send.
        self.boxes = np.concatenate([sample.boxes for sample in samples])
        self.classes = np.concatenate([sample.classes for sample in samples])
        self.ends = np.cumsum([len(sample.classes) for sample in samples]).tolist()
        self.ids = [sample.image_id for sample in samples]
        self.geometries = [astuple(sample.geometry) for sample in samples]
        self.squares = None

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        rows = slice(self.ends[index - 1] if index else 0, self.ends[index])
        return Sample(
            self.squares[index], self.boxes[rows], self.classes[rows], self.ids[index],
            Letterbox(*self.geometries[index]),
        )  # fmt: skip

    def file_name(self, index):
        return self.names[index]


class Preparer:
    """Fills the rows of batches, in this process or in workers."""

    def __init__(self, dataset, settings):
        self.dataset, self.settings = dataset, settings

    @cached_property
    def layout(self):
        """(shape, dtype) of the arrays of a batch, by name."""
        s, size = self.settings, self.dataset.image_size
        if s.render:
            layout = {"images": ((s.num_rows, 3, size, size), np.uint8)}
        else:
            named = zip(Plan._fields, PLAN_FIELDS, strict=True)
            layout = {name: ((s.num_rows, *shape), dtype) for name, (shape, dtype) in named}
        return layout | {
            "boxes": ((s.num_rows, s.max_boxes, 4), np.float32),
            "classes": ((s.num_rows, s.max_boxes), np.int32),
            "num_boxes": ((s.num_rows,), np.int32),
        }

    def place(self, epoch, batch, row):
        """(epoch, index) that a row of a batch shows; places past the epoch are the next's."""
        count = len(self.dataset)
        position = batch * self.settings.batch_size + self.settings.first_row + row
        epoch += position // count
        return epoch, int(epoch_order(self.settings.seed, epoch, count)[position % count])

    def fill(self, arrays, epoch, batch, start, stop):
        """Write rows `start` to `stop` of a batch into `arrays`, a dictionary as by `layout`."""
        plans = []
        for row in range(start, stop):
            place = self.place(epoch, batch, row)
            plan, boxes, classes = self._plan(*place)
            if len(boxes) > self.settings.max_boxes:
                raise ValueError(
                    f"{self.dataset.file_name(place[1])} has {len(boxes)} boxes in epoch "
                    f"{place[0]}, but max_boxes is {self.settings.max_boxes}; raise max_boxes"
                )
            for name, values in (("boxes", boxes), ("classes", classes)):
                arrays[name][row, : len(boxes)] = values
                arrays[name][row, len(boxes) :] = 0
            arrays["num_boxes"][row] = len(boxes)
            if self.settings.render and self.settings.augment is None:
                arrays["images"][row] = self.dataset.squares[place[1]].transpose(2, 0, 1)
            else:
                plans.append(plan)
        self._draw(plans, arrays, slice(start, stop))

    def _plan(self, epoch, index):
        s = self.settings
        rng = np.random.default_rng([s.seed, epoch, index])
        if s.augment is None:
            sample = self.dataset[index]
            plan = None if s.render else make_plan(self.dataset, index, UNCHANGED, rng)[0]
            return plan, sample.boxes, sample.classes
        closing = s.mosaic_until is not None and epoch >= s.mosaic_until
        augment = replace(s.augment, mosaic=0.0) if closing else s.augment
        return make_plan(self.dataset, index, augment, rng)

    def _draw(self, plans, arrays, rows):
        if not plans:
            return
        plan = stack_plans(plans)
        if self.settings.render:
            render(plan, self.dataset.squares, out=arrays["images"][rows])
        else:
            for name, values in plan._asdict().items():
                arrays[name][rows] = values


# -------------------------------------------------------------------------- shared memory


class _Memory:
    """Arrays of `num_slots` batches in memory without a name, and a ticket for each slot.

    The system frees it when the last process that has mapped it ends, in whatever way.
    """

    def __init__(self, layout, num_slots, fd=None):
        self.offsets, end = {}, 0
        for name, (shape, dtype) in layout.items():
            self.offsets[name] = (end, shape, dtype)
            end += -(-math.prod(shape) * np.dtype(dtype).itemsize // 64) * 64
        self.stride = -(-end // mmap.PAGESIZE) * mmap.PAGESIZE
        self.head = -(-num_slots * 8 // mmap.PAGESIZE) * mmap.PAGESIZE
        size = self.head + num_slots * self.stride
        self.fd = self._reserve(size) if fd is None else fd
        self.map = mmap.mmap(self.fd, size)
        self.tickets = np.ndarray((num_slots,), np.int64, self.map)

    @staticmethod
    def _reserve(size):
        if hasattr(os, "memfd_create"):
            fd = os.memfd_create("batches")
        else:
            with tempfile.TemporaryFile() as file:  # unlinked from the start
                fd = os.dup(file.fileno())
        try:
            os.ftruncate(fd, size)
            if hasattr(os, "posix_fallocate"):
                # A file that only seems to have room would kill the process that writes to it.
                os.posix_fallocate(fd, 0, size)
        except OSError as error:
            os.close(fd)
            raise LoaderError(
                f"no room for {size / 2**20:.0f} MiB of shared memory ({error.strerror}); "
                "take smaller batches, or workers=0"
            ) from error
        return fd

    def array(self, slot, name):
        offset, shape, dtype = self.offsets[name]
        return np.ndarray(shape, dtype, self.map, self.head + slot * self.stride + offset)

    def arrays(self, slot):
        return {name: self.array(slot, name) for name in self.offsets}


# --------------------------------------------------------------------------- worker processes


def _portable(error):
    """`error`, or where it does not survive pickling, a LoaderError that tells of it."""
    try:
        if type(pickle.loads(pickle.dumps(error))) is type(error):
            return error
    except Exception:  # pickling may raise anything
        pass
    return LoaderError(f"{type(error).__name__}: {error}")


def work(control_fd, tasks_fd, memory_fd):
    """Prepare batches until the other side is gone: what a worker process runs."""
    # A terminal sends it to all; the one that consumes the batches decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = Connection(control_fd)
    # Either says that the other side has gone; so does an empty read.
    with contextlib.suppress(EOFError, ConnectionError):
        try:
            handle, data, settings, num_slots = control.recv()
            data.squares = open_shared(handle)
            preparer = Preparer(data, settings)
            memory = _Memory(preparer.layout, num_slots, memory_fd)
            arrays = [memory.arrays(slot) for slot in range(num_slots)]
        except Exception as error:
            control.send((None, _portable(error), traceback.format_exc()))
            return
        while task := os.read(tasks_fd, TASK.size):
            slot, ticket, *place = TASK.unpack(task)
            error, text = None, ""
            if memory.tickets[slot] == ticket:  # or else nobody wants it any more
                try:
                    preparer.fill(arrays[slot], *place)
                except Exception as caught:
                    error, text = _portable(caught), traceback.format_exc()
            control.send((slot, error, text))


class _Worker:
    """A worker process, seen from the consumer."""

    def __init__(self, number, tasks_fd, memory_fd, first_message):
        self.number = number
        ours, theirs = socket.socketpair()
        with theirs:
            passed = (theirs.fileno(), tasks_fd, memory_fd)
            program = (
                f"import sys; sys.path[:] = {sys.path!r}; sys.path.insert(0, "
                f"{str(Path(__file__).parents[1])!r}); from data import "
                f"batch_workers; batch_workers.work{passed}"
            )
            self.process = subprocess.Popen(
                [sys.executable, "-c", program],
                stdin=subprocess.DEVNULL,
                pass_fds=passed,
                # A library's thread pool in each would have them compete for the cores.
                env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
                # A group of its own: an interrupt that comes while it starts would end it.
                process_group=0,
            )
        self.control = Connection(ours.detach())
        with contextlib.suppress(ConnectionError):  # told of by the first `receive`
            self.control.send(first_message)

    def receive(self):
        try:
            return self.control.recv()
        except (EOFError, ConnectionError):
            raise LoaderError(self._last_words()) from None

    def _last_words(self):
        name = f"batch worker {self.number} (process {self.process.pid})"
        try:
            code = self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return f"{name} has closed its connection"
        if code >= 0:
            return f"{name} ended with exit code {code}; what it wrote to stderr says why"
        if -code == signal.SIGKILL:
            return f"{name} was killed (SIGKILL); the system does so when memory runs out"
        return f"{name} was ended by signal {-code} ({signal.strsignal(-code)})"

    def end(self, patience):
        self.control.close()
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class _Pending(NamedTuple):
    place: tuple  # (epoch, batch)
    slot: int


class Workers:
    """Processes that prepare batches ahead, across the ends of epochs too."""

    def __init__(self, dataset, preparer, count, num_batches):
        rows = preparer.settings.num_rows
        self.num_batches, self.num_rows = num_batches, rows
        # Tasks of a few images: every worker has some of each batch. Plans are so quick that
        # a task is a batch of them.
        if preparer.settings.render:
            self.group, ahead = -(-rows // (4 * count)), AHEAD_DRAWN
        else:
            self.group, ahead = rows, AHEAD_PLANNED
        self.ahead = max(ahead, -(-2 * count * self.group // rows) + 1)
        num_slots = self.ahead + LENT
        # Kept as long as the workers, for whom it may hold the memory of the pictures.
        self.handle = dataset.share()
        self.memory = _Memory(preparer.layout, num_slots)
        self.free, self.returned = deque(range(num_slots)), deque()
        self.left = [0] * num_slots  # tasks not yet answered
        self.errors = [None] * num_slots
        self.tickets = 0  # given so far
        self.lent = 0
        self.pending, self.next_place = deque(), (0, 0)
        self.owner = os.getpid()
        self.workers, self.tasks = [], None
        tasks_read, self.tasks = os.pipe()
        try:
            message = (self.handle, _WorkerData(dataset), preparer.settings, num_slots)
            for number in range(count):
                worker = _Worker(number, tasks_read, self.memory.fd, message)
                self.workers.append(worker)
        except BaseException:
            self.stop()
            raise
        finally:
            os.close(tasks_read)
            os.close(self.memory.fd)

    def stop(self):
        """End the processes; lent images stay valid."""
        if os.getpid() != self.owner:  # a copy in a forked process: the workers are not its own
            return
        self.memory.tickets[:] = -1
        if self.tasks is not None:
            os.close(self.tasks)
            self.tasks = None
        end = time.monotonic() + 2
        for worker in self.workers:
            worker.end(max(end - time.monotonic(), 0))
        self.workers = []

    def seek(self, epoch, batch):
        """Prepare batches from here on; what was prepared of others is given up."""
        place = self.pending[0].place if self.pending else self.next_place
        if place != (epoch, batch):
            for pending in self.pending:
                self.memory.tickets[pending.slot] = -1
                self.errors[pending.slot] = None
                if not self.left[pending.slot]:
                    self.free.append(pending.slot)
            self.pending.clear()
            self.next_place = (epoch, batch)
        self._submit()

    def get(self, epoch, batch):
        """A batch's arrays: those but the images are copies.

        The images are a slot's own memory, and the slot is used again when nothing refers to
        them any more, so they are as safe as any array in the hands of code that takes them
        without copying (as JAX does on CPUs). Where more than `LENT` batches are held, they
        are copies too.
        """
        self.seek(epoch, batch)
        while not self.pending:
            self._receive()
            self._submit()
        slot = self.pending[0].slot
        while self.left[slot]:
            self._receive()
        self.pending.popleft()
        if self.errors[slot] is not None:
            raise self.errors[slot]
        self._take_back()
        arrays = {k: v if k == "images" else v.copy() for k, v in self.memory.arrays(slot).items()}
        if "images" in arrays and self.lent < LENT:
            self.lent += 1
            # Arrays made from this one refer to it, so it lives as long as the last of them.
            weakref.finalize(arrays["images"], self.returned.append, slot).atexit = False
        else:
            arrays = {name: array.copy() for name, array in arrays.items()}
            self.free.append(slot)
        self._submit()
        return arrays

    def _take_back(self):
        """Free the slots of images that the consumer has dropped."""
        while self.returned:
            self.free.append(self.returned.popleft())
            self.lent -= 1

    def _submit(self):
        self._take_back()
        while self.free and len(self.pending) < self.ahead:
            slot = self.free.popleft()
            self.tickets += 1
            self.memory.tickets[slot] = self.tickets
            self.pending.append(_Pending(self.next_place, slot))
            starts = range(0, self.num_rows, self.group)
            self.left[slot] = len(starts)
            for start in starts:
                stop = min(start + self.group, self.num_rows)
                task = TASK.pack(slot, self.tickets, *self.next_place, start, stop)
                with contextlib.suppress(BrokenPipeError):  # `_receive` says who has ended
                    os.write(self.tasks, task)
            epoch, batch = self.next_place
            last = batch + 1 == self.num_batches
            self.next_place = (epoch + 1, 0) if last else (epoch, batch + 1)

    def _receive(self):
        """Take in at least one answer."""
        ready = wait([worker.control for worker in self.workers])
        for worker in self.workers:
            if worker.control not in ready:
                continue
            slot, error, text = worker.receive()
            if error is not None:
                error.add_note(f"\nIn batch worker {worker.number}:\n{text}")
            if slot is None:
                raise error
            self.left[slot] -= 1
            wanted = any(pending.slot == slot for pending in self.pending)
            if wanted:
                self.errors[slot] = self.errors[slot] or error
            elif not self.left[slot]:
                self.free.append(slot)
