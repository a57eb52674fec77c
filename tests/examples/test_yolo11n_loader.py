"""Batches of the YOLO11n demo."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

import jax
import numpy as np
import pytest
from data import loader as loader_module
from data.augment import Augment, render
from data.loader import BatchLoader, LoaderError, val_batches

DEMO = Path(loader_module.__file__).parents[1]


def leaves(batch):
    """The arrays of a batch, those of its plan among them."""
    parts = [x for field in batch for x in (field if isinstance(field, tuple) else [field])]
    return [part for part in parts if part is not None]


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(leaves(a), leaves(b), strict=True))


def alive(pid):
    """Whether a process exists and is not just waiting to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def soon(condition, seconds=10):
    """Wait until `condition()`; whether it came true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture
def make(seven):
    """Makes loaders, and closes them after the test."""
    made = []

    def loader(*arguments, dataset=seven, **options):
        made.append(BatchLoader(dataset, *arguments, **{"workers": 0} | options))
        return made[-1]

    yield loader
    for loader in made:
        loader.close()


# ------------------------------------------------------------------------------- contents


def test_batch_layout(make):
    loader = make(3, image_size=64, max_boxes=5, augment=Augment())
    batches = list(loader.epoch(0))
    assert len(batches) == len(loader) == 3
    for batch in batches:
        assert batch.images.shape == (3, 3, 64, 64)
        assert batch.images.dtype == np.uint8
        assert batch.images.flags.c_contiguous
        assert batch.plan is None
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


def test_batches_without_augmentation(seven, make):
    drawn, planned = make(4).epoch(3), make(4, render=False).epoch(3)
    for batch, other in zip(drawn, planned, strict=True):
        for row, index in enumerate(batch.indices):
            sample = seven[index]
            np.testing.assert_array_equal(batch.images[row], sample.image.transpose(2, 0, 1))
            count = batch.num_boxes[row]
            np.testing.assert_array_equal(batch.boxes[row, :count], sample.boxes)
            np.testing.assert_array_equal(batch.classes[row, :count], sample.classes)
        np.testing.assert_array_equal(batch.images, render(other.plan, seven.squares))
        np.testing.assert_array_equal(batch.boxes, other.boxes)


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


def test_filler_looks_as_in_the_next_epoch(make):
    loader = make(3, augment=Augment())
    *_, last = loader.epoch(0)
    first = next(loader.epoch(1))
    np.testing.assert_array_equal(last.images[1:], first.images[:2])
    np.testing.assert_array_equal(last.boxes[1:], first.boxes[:2])


def test_batch_larger_than_the_dataset(make):
    loader = make(16)
    (batch,) = loader.epoch(0)
    want = np.concatenate([loader.order(0), loader.order(1), loader.order(2)[:2]])
    np.testing.assert_array_equal(batch.indices, want)


def test_epochs_differ(make):
    loader, images = make(1, augment=Augment()), []
    for epoch in range(2):
        images += [batch.images for batch in loader.epoch(epoch) if batch.indices[0] == 3]
    assert not np.array_equal(*images)


@pytest.mark.parametrize("start", [0, 1, 3, 4])
def test_resume(make, start):
    whole = list(make(2, augment=Augment(mosaic=0.5), seed=1).epoch(5))
    again = make(2, augment=Augment(mosaic=0.5), seed=1)
    tail = list(again.epoch(5, start_batch=start))
    assert len(tail) == 4 - start
    assert all(same(a, b) for a, b in zip(whole[start:], tail, strict=True))


def test_mosaic_until(make):
    closing = make(7, seed=1, augment=Augment(mosaic=1.0), mosaic_until=2)
    always = make(7, seed=1, augment=Augment(mosaic=1.0))
    never = make(7, seed=1, augment=Augment())
    for epoch, other in ((1, always), (2, never)):
        ours, theirs = next(closing.epoch(epoch)), next(other.epoch(epoch))
        np.testing.assert_array_equal(ours.images, theirs.images)
    assert closing.max_boxes == always.max_boxes > never.max_boxes


def test_plans_draw_the_same_images(seven, make):
    settings = {"seed": 5, "augment": Augment(mosaic=0.5)}
    for drawn, planned in zip(
        make(3, **settings).epoch(0), make(3, render=False, **settings).epoch(0), strict=True
    ):
        assert planned.images is None
        np.testing.assert_array_equal(render(planned.plan, seven.squares), drawn.images)
        assert same(drawn._replace(images=None), planned._replace(plan=None))


@pytest.mark.parametrize("render", [True, False])
def test_parts_make_the_whole(make, render):
    settings = {"seed": 3, "augment": Augment(mosaic=0.5), "render": render}
    whole = make(6, **settings).epoch(1)
    parts = [make(6, part=(p, 3), workers=p == 1, **settings).epoch(1) for p in range(3)]
    for batch, *pieces in zip(whole, *parts, strict=True):
        assert all(len(piece.indices) == 2 for piece in pieces)
        joined = [np.concatenate(x) for x in zip(*map(leaves, pieces), strict=True)]
        for array, want in zip(joined, leaves(batch), strict=True):
            np.testing.assert_array_equal(array, want)


# -------------------------------------------------------------------------------- workers


@pytest.mark.parametrize(("render", "counts"), [(True, (1, 3)), (False, (2,))])
def test_workers_change_nothing(make, render, counts):
    settings = {"seed": 4, "augment": Augment(mosaic=0.5), "render": render}
    plain = [list(make(5, **settings).epoch(epoch)) for epoch in (0, 1, 2)]
    for workers in counts:
        loader = make(5, workers=workers, **settings)
        for epoch, batches in enumerate(plain):
            # Kept in a list, most of them have to be copies.
            ours = list(loader.epoch(epoch))
            assert all(same(a, b) for a, b in zip(batches, ours, strict=True))
            assert all(leaf.flags.writeable for batch in ours for leaf in leaves(batch))
    assert not same(plain[0][0], plain[1][0])


def test_workers_go_on_across_epochs_and_jumps(make):
    settings = {"seed": 4, "augment": Augment()}
    plain, loader = make(2, **settings), make(2, workers=2, **settings)
    want = {e: list(plain.epoch(e)) for e in (0, 1, 7)}
    assert all(same(a, b) for a, b in zip(want[0], loader.epoch(0), strict=True))
    pids = loader.worker_pids
    assert [pending.place for pending in loader._pool.pending] == [(1, 0), (1, 1), (1, 2)]
    for pid in pids:
        os.kill(pid, signal.SIGINT)  # not theirs to act on
    early = loader.epoch(1)
    assert same(next(early), want[1][0])
    early.close()
    assert all(same(a, b) for a, b in zip(want[7][2:], loader.epoch(7, 2), strict=True))
    for a, b, c, d in zip(loader.epoch(0), loader.epoch(7), want[0], want[7], strict=True):
        assert same(a, c)
        assert same(b, d)
    assert loader.worker_pids == pids


def test_lent_images_are_not_drawn_over(make):
    loader = make(2, workers=1, augment=Augment())
    held = next(loader.epoch(0)).images
    shared = held[1:, :2]
    before = shared.copy()
    assert loader._pool.lent == 1
    del held
    for epoch in range(3):
        list(loader.epoch(epoch))
    np.testing.assert_array_equal(shared, before)
    del shared
    next(loader.epoch(0))
    assert soon(lambda: len(loader._pool.returned) == 1)  # the one batch that is dropped above
    loader.epoch(0, 1)
    assert loader._pool.lent == 0
    kept = next(loader.epoch(0, 1)).images
    before = kept.copy()
    loader.close()
    np.testing.assert_array_equal(kept, before)


def test_batches_of_a_prefetching_consumer_are_not_copied(make):
    loader = make(2, workers=1, augment=Augment())
    batches = loader.epoch(0)
    held = [next(batches).images for _ in range(3)]
    assert loader._pool.lent == 3
    assert len({array.ctypes.data for array in held}) == 3
    del held[0]
    held += [next(loader.epoch(1)).images for _ in range(2)]
    assert loader._pool.lent == 3  # the fifth is a copy
    assert held[-1].base is None


def test_images_that_jax_took_without_a_copy(make):
    loader = make(2, workers=1, augment=Augment())
    taken, before = [], []
    for batch in loader.epoch(0):
        taken.append(jax.device_put(batch.images))
        before.append(batch.images.copy())
    del batch
    for epoch in range(1, 4):
        list(loader.epoch(epoch))
    for array, want in zip(taken, before, strict=True):
        np.testing.assert_array_equal(array, want)


def test_workers_import_neither_jax_nor_pytensor(make, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, os, sys\n"
        f"atexit.register(lambda: open({str(tmp_path)!r} + f'/{{os.getpid()}}', 'w')"
        ".write(' '.join(sys.modules)))\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    loader = make(2, workers=1, augment=Augment(mosaic=1.0))
    list(loader.epoch(0))
    pids = loader.worker_pids
    loader.close()
    for pid in pids:
        modules = (tmp_path / str(pid)).read_text().split()
        assert "augment" in modules
        assert not {"jax", "jaxlib", "pytensor", "onnx", "matplotlib"} & set(modules)


def test_waiting_is_counted(make):
    for workers in (0, 1):
        loader = make(3, workers=workers, augment=Augment())
        assert loader.waited_s == 0
        start = time.perf_counter()
        list(loader.epoch(0))
        assert 0 < loader.waited_s < time.perf_counter() - start
        iterator, before = loader.epoch(1), loader.waited_s
        next(iterator)
        first = loader.waited_s
        time.sleep(0.05)
        list(iterator)
        assert first < loader.waited_s < before + first + 0.05


def test_workers_end_with_close_and_with_the_loader(seven):
    with BatchLoader(seven, 2) as loader:
        first = next(loader.epoch(0))
        (pid,) = loader.worker_pids
        assert alive(pid)
    assert not alive(pid)
    assert not loader.worker_pids
    loader.close()
    assert same(next(loader.epoch(0)), first)
    (pid,) = loader.worker_pids
    assert alive(pid)
    del loader
    assert not alive(pid)


# --------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("workers", [0, 1])
def test_too_many_boxes(make, workers):
    loader = make(2, max_boxes=2, workers=workers)
    with pytest.raises(ValueError, match=r"40\.png has 3 boxes.*max_boxes is 2") as caught:
        list(loader.epoch(0))
    notes = "".join(getattr(caught.value, "__notes__", []))
    assert ("in fill" in notes) == ("batch worker 0" in notes) == bool(workers)


def test_an_error_waits_for_its_batch(make):
    loader = make(1, max_boxes=2, workers=1)
    order = list(loader.order(0))
    wrong = order.index(3)
    iterator = loader.epoch(0)
    for _ in range(3):  # twice it is prepared, but not taken
        assert [next(iterator).indices[0] for _ in range(wrong)] == order[:wrong]
        time.sleep(0.2)
        other = next(epoch for epoch in range(1, 9) if loader.order(epoch)[0] != 3)
        assert next(loader.epoch(other)).indices[0] == loader.order(other)[0]
        iterator = loader.epoch(0)
    with pytest.raises(ValueError, match=r"40\.png has 3 boxes"):
        list(iterator)


def test_killed_worker(make):
    loader = make(1, workers=2)
    next(loader.epoch(0))
    pids = loader.worker_pids
    os.kill(pids[1], signal.SIGKILL)
    start = time.monotonic()
    batches = (batch for epoch in range(1000) for batch in loader.epoch(epoch))
    with pytest.raises(LoaderError, match=rf"worker 1 \(process {pids[1]}\) was killed.*memory"):
        deque(batches, maxlen=0)
    assert time.monotonic() - start < 5
    assert not any(map(alive, pids))


def test_worker_that_cannot_start(make, tmp_path, monkeypatch, capfd):
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit(7)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(LoaderError, match=r"worker 0.*exit code"):
        next(make(1, workers=1).epoch(0))


def test_systems_without_memory_files(seven, make, monkeypatch):
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.delattr(os, "posix_fallocate")
    settings = {"augment": Augment()}
    ours, want = (make(4, workers=workers, **settings).epoch(0) for workers in (1, 0))
    assert all(same(a, b) for a, b in zip(ours, want, strict=True))


def test_no_room_for_shared_memory(make, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(LoaderError, match=r"no room for .* MiB of shared memory.*No space"):
        make(1, workers=1).epoch(0)


def test_data_without_a_cache(builder, seven, make):
    with pytest.raises(ValueError, match='without a cache; use cache="memory"'):
        make(2, workers=1, dataset=builder.dataset(cache=False)).epoch(0)


def test_loader_errors(seven):
    with pytest.raises(ValueError, match="dataset was made for 64"):
        BatchLoader(seven, 2, image_size=320)
    for bad in ({"batch_size": 0}, {"batch_size": 2, "workers": -1}, {"batch_size": 2, "seed": -1}):
        with pytest.raises(ValueError, match="must be positive"):
            BatchLoader(seven, **bad)
    for part in ((0, 3), (2, 2), (-1, 2), (0, 0)):
        with pytest.raises(ValueError, match="n must divide"):
            BatchLoader(seven, 4, part=part)
    loader = BatchLoader(seven, 2)
    for epoch, start in ((0, 5), (0, -1), (-1, 0)):
        with pytest.raises(ValueError, match="4 batches"):
            loader.epoch(epoch, start)


# ------------------------------------------------------------------------ the consumer's end

CONSUMER = """
import sys, time
sys.path.insert(0, {demo!r})
from data.augment import Augment
from dataset import CocoDataset
from data.loader import BatchLoader

train = CocoDataset({json!r}, {images!r}, ["person", "cell phone"], 64)
loader = BatchLoader(train, 4, workers={workers}, augment=Augment(mosaic=0.5))
next(loader.epoch(0))
print(*loader.worker_pids, flush=True)
sys.stdin.readline()
for epoch in range({epochs}):
    for batch in loader.epoch(epoch):
        pass
"""


def interrupt(process):
    """Press Ctrl-C, again if need be: Python ignores one that comes while it frees an object."""
    for _ in range(6):
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            continue
        return


@pytest.mark.parametrize(("ending", "workers"), [("interrupt", 2), ("kill", 1), ("exit", 1)])
def test_nothing_is_left_behind(builder, seven, ending, workers):
    program = CONSUMER.format(
        demo=str(DEMO), json=str(builder.write()), images=str(builder.folder),
        epochs=1 if ending == "exit" else 10**6, workers=workers,
    )  # fmt: skip
    consumer = subprocess.Popen(
        [sys.executable, "-W", "default", "-c", program],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        pids = [int(pid) for pid in consumer.stdout.readline().split()]
        assert len(pids) == workers
        for pid in (consumer.pid, *pids):  # their shared memory has no name that could stay
            maps = Path(f"/proc/{pid}/maps")
            # a worker may still be starting: the first batch takes only one
            assert soon(lambda maps=maps: "batches (deleted)" in maps.read_text()), pid
            assert "/dev/shm/" not in maps.read_text()
        consumer.stdin.write("go on\n")
        consumer.stdin.flush()
        if ending == "interrupt":
            for pid in pids:  # even if it comes to them too
                os.kill(pid, signal.SIGINT)
            interrupt(consumer)
        elif ending == "kill":
            consumer.kill()
        _, errors = consumer.communicate(timeout=60)
    finally:
        consumer.kill()
    want = {"interrupt": -signal.SIGINT, "kill": -signal.SIGKILL, "exit": 0}
    assert consumer.returncode == want[ending], errors
    assert soon(lambda: not any(map(alive, pids)))
    told = errors.count("Traceback") - errors.count("Exception ignored")
    assert told == (ending == "interrupt"), errors
    assert "leaked" not in errors
    assert "Warning" not in errors


# ------------------------------------------------------------------------------ validation


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
