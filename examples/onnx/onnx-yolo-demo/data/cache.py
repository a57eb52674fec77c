"""Pictures decoded and letterboxed once, for many epochs: in memory, or in a file on disk."""

import contextlib
import hashlib
import json
import math
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import PIL
from data.images import DEPTHS, PictureError, decode, highest_value, letterbox, quiet, used_bits
from filelock import FileLock
from tqdm import tqdm

MEMINFO, CONTAINER = Path("/proc/meminfo"), Path("/sys/fs/cgroup")
_VERSION = 4  # of the letterboxing and of the files; another number makes older files useless


def check_space(folder, needed, what):
    """Raise OSError if the disk of a folder has no room for `needed` bytes, of `what`."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise OSError(
            f"{what} need {needed / 1e6:,.0f} MB in {folder}, but only {free / 1e6:,.0f} MB are "
            "free; make room, choose fewer or smaller images, or another folder"
        )


def free_memory():
    """Return how many bytes programs can still take, on this machine and in this container.

    Infinity where the system doesn't tell. An array beyond them can be made all the same; Linux
    ends the process when it is filled.
    """
    free = math.inf
    with contextlib.suppress(OSError):  # another system
        text = MEMINFO.read_text()
        if found := re.search(r"MemAvailable:\s+(\d+) kB", text):
            free = int(found[1]) * 1024
    with contextlib.suppress(OSError, ValueError):  # no container, or one without a limit
        limit, used = (int((CONTAINER / f"memory.{n}").read_text()) for n in ("max", "current"))
        # Files that were read lately count as used, but make room.
        kept = re.search(r"^inactive_file (\d+)$", (CONTAINER / "memory.stat").read_text(), re.M)
        free = min(free, limit - used + (int(kept[1]) if kept else 0))
    return free


@contextlib.contextmanager
def part_of(path):
    """Yield a name to write a file under, which gets its own name when it is complete."""
    part = path.with_name(path.name + ".part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def decode_all(pictures, squares, workers=1, progress="", antialias=True):
    """Decode and letterbox pictures, by `workers` threads.

    The first rows of `squares`, uint8 (n, S, S, 3), become the usable pictures, in their
    order. If no picture of 16 bits a channel uses the upper two bits, all of these are decoded
    again, with the bits that they use.
    `progress` is the title of a progress bar; none is shown if it is empty.

    Returns
    -------
    list
        For each picture ``(width, height, what was changed)``, or the reason (str) why it can't
        be used.
    """

    def work(row, bits=16):
        picture = pictures[row]
        try:
            pixels, notes = decode(picture.path, picture.size, bits)
        except FileNotFoundError:
            return "missing"
        except PictureError as error:
            return str(error)
        squares[row], geometry = letterbox(pixels, squares.shape[1], antialias)
        return geometry.width, geometry.height, notes

    rows = range(len(pictures))
    with (
        quiet(),
        ThreadPoolExecutor(max(workers, 1)) as pool,
        contextlib.closing(pool.map(work, rows)) as found,  # an interrupt cancels what is left
    ):
        bar = tqdm(found, total=len(rows), desc=progress, unit="img", disable=not progress)
        outcomes = list(bar)
        usable = (row for row in rows if not isinstance(outcomes[row], str))
        deep = [row for row in usable if DEPTHS[16] in outcomes[row][2]]
        highest = max(pool.map(highest_value, [pictures[row].path for row in deep]), default=0)
        if deep and (bits := used_bits(highest)) < 16:
            for row, outcome in zip(deep, pool.map(lambda k: work(k, bits), deep), strict=True):
                outcomes[row] = outcome
    used = [row for row in rows if not isinstance(outcomes[row], str)]
    for place, row in enumerate(used):
        if place != row:
            squares[place] = squares[row]
    return outcomes


def open_squares(pictures, image_size, cache, folder, *how):
    """Decode the pictures of a data set, or find what was decoded before.

    `cache` and `folder` are as `cache` and `cache_dir` of `dataset.Dataset`, `how` as of
    `decode_all`: workers, progress and antialias.

    Returns
    -------
    squares : uint8 array (n, S, S, 3), read-only
        Of the usable pictures, in their order.
    outcomes : list
        Of all, as of `decode_all`.
    """
    if cache not in ("memory", "disk"):
        raise ValueError(f'cache is {cache!r}; it must be "memory" or "disk"')
    shape = (len(pictures), image_size, image_size, 3)
    if cache == "disk" and pictures:
        squares, outcomes = _on_disk(pictures, shape, Path(folder), *how)
    else:
        if (needed := math.prod(shape)) > (free := free_memory()):
            raise OSError(
                f"the decoded pictures need {needed / 1e9:.1f} GB of memory, but only "
                f"{free / 1e9:.1f} GB are free; keep them on disk (--cache disk) or make "
                "--image-size smaller"
            )
        squares = np.empty(shape, np.uint8)
        outcomes = decode_all(pictures, squares, *how)
    # np.memmap's own class makes every small operation slower.
    squares = squares.view(np.ndarray)[: sum(not isinstance(found, str) for found in outcomes)]
    squares.flags.writeable = False
    return squares, outcomes


def _on_disk(pictures, shape, folder, workers, progress, antialias):
    """Return squares in a memory-mapped file, and outcomes; decode if no file has them."""
    name = _key(pictures, shape, antialias)
    path, info = folder / f"{name}.npy", folder / f"{name}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f"{name}.lock"):
            if not info.exists():
                check_space(folder, math.prod(shape) + 200 * len(pictures), "the decoded pictures")
                squares = np.lib.format.open_memmap(path, "w+", np.uint8, shape)
                outcomes = decode_all(pictures, squares, workers, progress, antialias)
                squares.flush()
                with part_of(info) as part:  # from here on the squares count
                    part.write_text(json.dumps(outcomes), encoding="utf-8")
        return np.load(path, mmap_mode="r"), json.loads(info.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OSError(
            f"can't keep decoded pictures in {folder}: {error}; empty it, or give another "
            "--cache-dir"
        ) from error


def _key(pictures, shape, antialias):
    """Return a hash of all that the squares depend on."""
    digest = hashlib.sha256(f"{_VERSION} {PIL.__version__} {shape} {antialias}\n".encode())
    for picture in pictures:
        state = None
        with contextlib.suppress(OSError):  # a missing picture is a state too
            found = os.stat(picture.path)
            state = (found.st_size, found.st_mtime_ns)
        digest.update(repr((os.path.abspath(picture.path), picture.size, state)).encode())
    return digest.hexdigest()[:16]
