"""Pictures decoded and letterboxed once, for many epochs and processes: in memory or on disk.

Both kinds are memory-mapped, so other processes reach them without a copy.
"""

import contextlib
import fcntl
import hashlib
import io
import json
import multiprocessing
import os
import shutil
import tempfile
import time
import weakref
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import NamedTuple

import numpy as np
import PIL
from data.images import PictureError, decode, letterbox

_VERSION = 1  # of the letterboxing and of the files; another number makes older files useless
_CHUNK = 32  # pictures a worker process gets at a time


class CacheError(OSError):
    """There is no room for the decoded pictures; the message says what to change."""


class SharedArray(NamedTuple):
    """Where another process finds an array of decoded pictures; may be pickled."""

    path: str
    shape: tuple
    offset: int


def open_shared(handle):
    """Map an array that another process (or this one) holds.

    Parameters
    ----------
    handle : SharedArray
        From a data set's ``share()``. One in memory can be opened as long as the process that
        made it still has the data set; what is mapped stays valid after that.

    Returns
    -------
    uint8 array (n, S, S, 3), read-only
    """
    return _map(handle, "r")


def _map(handle, mode):
    array = np.memmap(handle.path, np.uint8, mode, handle.offset, handle.shape)
    # np.memmap's own class makes every small operation slower.
    return array.view(np.ndarray)


# ------------------------------------------------------------------------------ decoding


class Decoded(NamedTuple):
    """A picture that could be used."""

    width: int
    height: int
    notes: list  # what was changed, in words


def read_square(picture, image_size, antialias=True):
    """Decode and letterbox a picture.

    Parameters
    ----------
    picture : listing.Picture
    image_size : int
    antialias : bool
        As of `images.letterbox`.

    Returns
    -------
    square : uint8 array (S, S, 3), or None
    outcome : Decoded, or str
        The reason why it can't be used.
    """
    try:
        pixels, notes = decode(picture.path, picture.size)
    except FileNotFoundError:
        return None, "missing"
    except PictureError as error:
        return None, str(error)
    square, geometry = letterbox(pixels, image_size, antialias=antialias)
    return square, Decoded(geometry.width, geometry.height, notes)


def _decode_chunk(pictures, first, target, image_size, antialias):
    """Outcomes of some pictures, whose squares go to the rows of `target` from `first` on."""
    array = None if target is None else _map(target, "r+")
    outcomes = []
    for row, picture in enumerate(pictures, start=first):
        square, outcome = read_square(picture, image_size, antialias)
        if array is not None and square is not None:
            array[row] = square
        outcomes.append(outcome)
    return outcomes


def decode_all(pictures, image_size, target=None, workers=1, progress="", antialias=True):
    """Decode all pictures of a data set.

    Parameters
    ----------
    pictures : list of listing.Picture
    image_size : int
    target : SharedArray, optional
        Writable rows for the squares, one for each picture; without it they are only checked.
    workers : int
        Processes; up to 1 decodes in this one.
    progress : str
        Title of a progress bar; none if empty.
    antialias : bool
        As of `images.letterbox`.

    Returns
    -------
    list of Decoded or str
        As of `read_square`.
    """
    size = 1 if workers <= 1 else _CHUNK
    starts = range(0, len(pictures), size)
    chunks = [pictures[start : start + size] for start in starts]
    n = len(chunks)
    jobs = (chunks, starts, [target] * n, [image_size] * n, [antialias] * n)
    with contextlib.ExitStack() as stack:
        if min(workers, n) <= 1:
            results = map(_decode_chunk, *jobs)
        else:
            # Not forked: the parent may run threads, JAX's for instance, which a fork can block.
            context = multiprocessing.get_context("spawn")
            pool = ProcessPoolExecutor(min(workers, n), context)
            stack.callback(pool.shutdown, cancel_futures=True)
            results = pool.map(_decode_chunk, *jobs)
        bar = None
        if progress:
            from tqdm import tqdm

            bar = stack.enter_context(tqdm(total=len(pictures), desc=progress, unit="img"))
        outcomes = []
        try:
            for found in results:
                outcomes += found
                if bar is not None:
                    bar.update(len(found))
        except BrokenProcessPool:
            raise CacheError(
                "a process that decoded pictures died, perhaps for lack of memory; "
                "try fewer workers"
            ) from None
        return outcomes


def _compact(target, outcomes):
    """Move the squares of the usable pictures together; the array of them."""
    array = _map(target, "r+")
    used = [row for row, outcome in enumerate(outcomes) if not isinstance(outcome, str)]
    for place, row in enumerate(used):
        if place != row:
            array[place] = array[row]
    return target._replace(shape=(len(used), *target.shape[1:]))


# ------------------------------------------------------------------------------ the two stores


class Store:
    """Squares of the usable pictures of a data set, and what became of each picture.

    Attributes
    ----------
    outcomes : list of Decoded or str
        One for each picture of the data set.
    handle : SharedArray
    array : uint8 array (n, S, S, 3), read-only
        The squares of the usable ones, in their order.
    path : str or None
        The file, if it is on disk.
    note : str
        How it came about, for people.
    """

    def __init__(self, outcomes, handle, path=None, note="", release=None):
        self.outcomes, self.handle, self.path, self.note = outcomes, handle, path, note
        self.array = open_shared(handle) if handle.shape[0] else np.empty(handle.shape, np.uint8)
        if release:
            weakref.finalize(self, *release)


def in_memory(pictures, image_size, workers=1, progress="", antialias=True):
    """Decode pictures into memory that other processes can map.

    Raises
    ------
    CacheError
        There is not enough free memory.
    """
    shape = (len(pictures), image_size, image_size, 3)
    check_memory(int(np.prod(shape)))
    started = time.perf_counter()
    path, fd, release = _memory_file()
    try:
        os.ftruncate(fd, int(np.prod(shape)))
        target = SharedArray(path, shape, 0)
        outcomes = []
        if pictures:
            outcomes = decode_all(pictures, image_size, target, workers, progress, antialias)
        handle = _compact(target, outcomes) if pictures else target
        os.ftruncate(fd, int(np.prod(handle.shape)))
        note = f"decoded in {time.perf_counter() - started:.1f} s"
        return Store(outcomes, handle, None, note, release)
    except BaseException:
        release[0](*release[1:])
        raise


def _memory_file():
    """(path, descriptor, what to call at the end) of a file that lives in memory."""
    if hasattr(os, "memfd_create"):
        # Unlike a file in /dev/shm it goes away with the process, however that ends, and
        # isn't bound to the size of /dev/shm, which is 64 MB in many containers.
        fd = os.memfd_create("squares")
        return f"/proc/{os.getpid()}/fd/{fd}", fd, (os.close, fd)
    fd, path = tempfile.mkstemp(prefix="squares-")
    return path, fd, (_remove_file, fd, path)


def _remove_file(fd, path):
    os.close(fd)
    os.unlink(path)


def check_memory(needed):
    """Raise CacheError if `needed` bytes aren't free."""
    free = free_memory()
    if free is not None and needed > free:
        raise CacheError(
            f"the decoded pictures need {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB "
            'are free; keep them on disk (cache="disk") or make --image-size smaller'
        )


def free_memory():
    """Bytes of memory that can still be used, or None if the system doesn't tell."""
    limits = []
    with contextlib.suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                limits.append(int(line.split()[1]) * 1024)
    for limit, usage, cached in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
    ):
        with contextlib.suppress(OSError, ValueError):  # ValueError: "max", for no limit
            limits.append(_control_group_room(Path("/sys/fs/cgroup"), limit, usage, cached))
    return min(limits, default=None)


def _control_group_room(root, limit, usage, cached):
    """Bytes that a container may still take; its file cache counts as free."""
    room = int((root / limit).read_text()) - int((root / usage).read_text())
    stat = (root / usage).with_name("memory.stat").read_text().split()
    return room + int(dict(zip(stat[::2], stat[1::2], strict=True)).get(cached, 0))


# ------------------------------------------------------------------------------ disk


def on_disk(pictures, image_size, folder, source, workers=1, progress="", antialias=True):
    """Squares in a memory-mapped file, made if there is none for just these pictures.

    The file's name holds a hash of the paths, sizes and times of the pictures, the sizes that
    the annotations give, the image size, the way of resizing, and the versions of this module and
    of Pillow. Older files of the same data set, image size and way are removed.

    Parameters
    ----------
    pictures : list of listing.Picture
    image_size : int
    folder : path-like
        Made if it doesn't exist.
    source : path-like
        Tells data sets apart.
    workers, progress, antialias
        As of `decode_all`.

    Returns
    -------
    Store

    Raises
    ------
    CacheError
        The folder can't be written to, or has too little room.
    """
    folder, source = Path(folder), Path(source).resolve()
    key = _key(pictures, image_size, antialias)
    kind = f"{image_size}" if antialias else f"{image_size}-sharp"
    prefix = f"{source.stem}-{kind}-{hashlib.sha256(str(source).encode()).hexdigest()[:8]}"
    path = folder / f"{prefix}-{key[:16]}.npy"
    found = _open_file(path, key, pictures, image_size)
    if isinstance(found, Store):  # also from a folder that can't be written to
        return found
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / f"{prefix}.lock"):
            # Another process may have made it meanwhile.
            found = _open_file(path, key, pictures, image_size)
            if isinstance(found, Store):
                return found
            note = f"; {found}" if found else ""
            old = _remove_old(folder, prefix)
            note += f"; removed {', '.join(old)}" if old else ""
            started = time.perf_counter()
            _write_file(path, key, pictures, image_size, workers, progress, antialias)
            store = _open_file(path, key, pictures, image_size)
    except CacheError:
        raise
    except OSError as error:
        raise CacheError(
            f"can't keep decoded pictures in {folder} ({error.strerror or error}); give another "
            "--cache-dir"
        ) from error
    if not isinstance(store, Store):
        raise CacheError(f"{path} has changed while it was written: {store}")
    store.note = f"decoded into {path} in {time.perf_counter() - started:.1f} s{note}"
    return store


def _key(pictures, image_size, antialias):
    """Hash of all that the squares depend on."""
    digest = hashlib.sha256(f"{_VERSION} {PIL.__version__} {image_size} {antialias}\n".encode())
    for picture in pictures:
        try:
            found = os.stat(picture.path)
            state = (found.st_size, found.st_mtime_ns)
        except OSError:
            state = None
        digest.update(repr((os.path.abspath(picture.path), picture.size, state)).encode())
    return digest.hexdigest()


@contextlib.contextmanager
def _locked(path):
    """Hold a lock that the system releases if this process dies."""
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _remove_old(folder, prefix):
    """Remove unfinished and outdated files of a data set; the names of the outdated ones."""
    old = []
    for path in sorted(folder.glob(f"{prefix}-*")):
        if path.suffix == ".npy":
            old.append(path.name)
        path.unlink()
    return old


def _header(shape):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": "|u1", "fortran_order": False, "shape": shape}
    )
    return file.getvalue()


def _write_file(path, key, pictures, image_size, workers, progress, antialias):
    shape = (len(pictures), image_size, image_size, 3)
    offset, needed = len(_header(shape)), int(np.prod(shape))
    free = shutil.disk_usage(path.parent).free
    if needed + 200 * len(pictures) + offset > free:
        raise CacheError(
            f"the decoded pictures need {needed / 1e9:.1f} GB, and {path.parent} has "
            f"{free / 1e9:.1f} GB free; give another --cache-dir or make --image-size smaller"
        )
    part = path.with_suffix(".part")
    try:
        with open(part, "wb+") as file:
            if hasattr(os, "posix_fallocate") and needed:
                # Writing to a map of a file without its blocks kills the process on a full disk.
                os.posix_fallocate(file.fileno(), 0, offset + needed)
            file.truncate(offset + needed)
            target = SharedArray(str(part), shape, offset)
            outcomes = decode_all(pictures, image_size, target, workers, progress, antialias)
            handle = _compact(target, outcomes)
            header = _header(handle.shape)
            if len(header) != offset:
                raise AssertionError("NumPy's header has grown with the shape")
            file.write(header)
            file.truncate(offset + int(np.prod(handle.shape)))
            file.flush()
            # After a loss of power a file of the right size could be full of zeros.
            os.fsync(file.fileno())
        os.replace(part, path)
        content = json.dumps({"key": key, "outcomes": outcomes}, separators=(",", ":"))
        part.write_text(content, encoding="utf-8")
        os.replace(part, path.with_suffix(".json"))
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _open_file(path, key, pictures, image_size):
    """A Store, or what is wrong with the file (empty if there is none)."""
    if not path.exists():
        return ""
    try:
        content = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        rows = content["outcomes"]
        outcomes = [row if isinstance(row, str) else Decoded(*row) for row in rows]
        usable = sum(not isinstance(row, str) for row in rows)
        shape = (usable, image_size, image_size, 3)
        header = _header(shape)
        with open(path, "rb") as file:
            intact = file.read(len(header)) == header
        intact &= path.stat().st_size == len(header) + int(np.prod(shape))
        if not intact or content["key"] != key or len(rows) != len(pictures):
            return f"{path.name} was damaged and had to be written again"
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"{path.name} was damaged and had to be written again ({error})"
    return Store(outcomes, SharedArray(str(path), shape, len(header)), str(path), f"reused {path}")
