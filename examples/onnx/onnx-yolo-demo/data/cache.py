"""Pictures decoded and letterboxed once, for many epochs: in memory, or in a file on disk."""

import contextlib
import hashlib
import json
import math
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import PIL
from data.images import PictureError, decode, letterbox, quiet
from filelock import FileLock
from tqdm import tqdm

_VERSION = 2  # of the letterboxing and of the files; another number makes older files useless


class CacheError(OSError):
    """There is no room for the decoded pictures; the message says what to change."""


class Decoded(NamedTuple):
    """A picture that could be used."""

    width: int
    height: int
    notes: list  # what was changed, in words


class Squares(NamedTuple):
    """Letterboxed pictures, and what became of each picture of a data set."""

    array: np.ndarray | None  # uint8 (n, S, S, 3), read-only: the usable ones, in their order
    outcomes: list  # Decoded, or the reason (str) why a picture can't be used
    note: str = ""  # how it came about, for people


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


def decode_all(pictures, image_size, target=None, workers=1, progress="", antialias=True):
    """Decode all pictures of a data set.

    Parameters
    ----------
    pictures : list of listing.Picture
    image_size : int
    target : uint8 array (n, S, S, 3), optional
        Its first rows become the squares of the usable pictures; without it they are only
        checked.
    workers : int
        Threads; Pillow decodes without holding the interpreter's lock.
    progress : str
        Title of a progress bar; none if empty.
    antialias : bool
        As of `images.letterbox`.

    Returns
    -------
    list of Decoded or str
        As of `read_square`.
    """

    def work(row):
        square, outcome = read_square(pictures[row], image_size, antialias)
        if target is not None and square is not None:
            target[row] = square
        return outcome

    rows = range(len(pictures))
    with (
        quiet(),
        ThreadPoolExecutor(max(workers, 1)) as pool,
        contextlib.closing(pool.map(work, rows)) as found,  # an interrupt cancels what is left
    ):
        bar = tqdm(found, total=len(rows), desc=progress, unit="img", disable=not progress)
        outcomes = list(bar)
    if target is not None:
        used = [row for row in rows if not isinstance(outcomes[row], str)]
        for place, row in enumerate(used):
            if place != row:
                target[place] = target[row]
    return outcomes


def _usable(array, outcomes):
    """The rows of the usable pictures, read-only."""
    # np.memmap's own class makes every small operation slower.
    array = array.view(np.ndarray)[: sum(not isinstance(outcome, str) for outcome in outcomes)]
    array.flags.writeable = False
    return array


def open_squares(cache, folder, source, pictures, image_size, *how):
    """Decode the pictures of a data set, or find what was decoded before.

    Parameters
    ----------
    cache : str or bool
        As of `dataset.Dataset`.
    folder, source : path-like
        Of a cache on disk, see `on_disk`.
    pictures, image_size, *how
        As of `decode_all`: workers, progress and antialias.

    Returns
    -------
    Squares

    Raises
    ------
    CacheError
        There is no room for them.
    """
    if cache not in (True, False, "memory", "disk"):
        raise ValueError(f'cache is {cache!r}; it must be "memory", "disk" or False')
    if not cache or not pictures:
        return Squares(None, decode_all(pictures, image_size, None, *how))
    if cache == "disk":
        return on_disk(pictures, image_size, folder, source, *how)
    return in_memory(pictures, image_size, *how)


# ------------------------------------------------------------------------------ memory


def in_memory(pictures, image_size, *how):
    """Squares in memory; CacheError where it is not free."""
    shape = (len(pictures), image_size, image_size, 3)
    check_memory(math.prod(shape))
    started, array = time.perf_counter(), np.empty(shape, np.uint8)
    outcomes = decode_all(pictures, image_size, array, *how)
    note = f"decoded in {time.perf_counter() - started:.1f} s"
    return Squares(_usable(array, outcomes), outcomes, note)


def check_memory(needed):
    """Raise CacheError if `needed` bytes aren't free."""
    free = free_memory()
    if free is not None and needed > free:
        raise CacheError(
            f"the decoded pictures need {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB "
            'are free; keep them on disk (cache="disk") or make --image-size smaller'
        )


def free_memory(meminfo=Path("/proc/meminfo"), group=Path("/sys/fs/cgroup")):
    """Bytes that can still be used, also in a container; None if the system doesn't tell."""
    free = []
    with contextlib.suppress(OSError):  # no Linux
        fields = dict(line.split(":") for line in meminfo.read_text().splitlines())
        free.append(int(fields["MemAvailable"].split()[0]) * 1024)
    with contextlib.suppress(OSError, ValueError):  # no container, or one without a limit ("max")
        limit, used = (int((group / f"memory.{name}").read_text()) for name in ("max", "current"))
        stat = (group / "memory.stat").read_text().split()
        files = int(dict(zip(stat[::2], stat[1::2], strict=True))["inactive_file"])
        free.append(limit - used + files)  # what is kept of files is given up when needed
    return min(free, default=None)


# ------------------------------------------------------------------------------ disk


def on_disk(pictures, image_size, folder, source, workers=1, progress="", antialias=True):
    """Squares in a memory-mapped ``.npy`` file, made if there is none for just these pictures.

    Its name holds a hash of the paths, sizes and times of the pictures, the sizes that the
    annotations give, the image size, the way of resizing, and the versions of this module and
    of Pillow. Older files of the same data set, image size and way are removed.

    Parameters
    ----------
    pictures, image_size, workers, progress, antialias
        As of `decode_all`.
    folder : path-like
        Made if it doesn't exist.
    source : path-like
        Tells data sets apart.

    Raises
    ------
    CacheError
        The folder can't be written to, or has too little room.
    """
    folder, source = Path(folder), Path(source).resolve()
    kind = f"{image_size}" if antialias else f"{image_size}-sharp"
    prefix = f"{source.stem}-{kind}-{hashlib.sha256(str(source).encode()).hexdigest()[:8]}"
    path = folder / f"{prefix}-{_key(pictures, image_size, antialias)}.npy"
    shape = (len(pictures), image_size, image_size, 3)
    if found := _open(path, shape):  # also in a folder that can't be written to
        return found
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f"{prefix}.lock"):
            if found := _open(path, shape):  # another process has made it meanwhile
                return found
            for old in folder.glob(f"{prefix}-*"):  # outdated, damaged or unfinished
                old.unlink()
            started = time.perf_counter()
            _write(path, pictures, shape, workers, progress, antialias)
    except CacheError:
        raise
    except OSError as error:
        raise CacheError(
            f"can't keep decoded pictures in {folder} ({error.strerror or error}); give another "
            "--cache-dir"
        ) from error
    note = f"decoded into {path} in {time.perf_counter() - started:.1f} s"
    return _open(path, shape)._replace(note=note)


def _key(pictures, image_size, antialias):
    """Hash of all that the squares depend on."""
    digest = hashlib.sha256(f"{_VERSION} {PIL.__version__} {image_size} {antialias}\n".encode())
    for picture in pictures:
        state = None
        with contextlib.suppress(OSError):  # a missing picture is a state too
            found = os.stat(picture.path)
            state = (found.st_size, found.st_mtime_ns)
        digest.update(repr((os.path.abspath(picture.path), picture.size, state)).encode())
    return digest.hexdigest()[:16]


def _open(path, shape):
    """The squares of a file; None if there is none, or it is damaged and must be made again."""
    if not path.exists():
        return None
    try:
        rows = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        array = np.load(path, mmap_mode="r")
        outcomes = [row if isinstance(row, str) else Decoded(*row) for row in rows]
        if array.shape != shape or len(rows) != len(array):
            raise ValueError(f"it has shape {array.shape} instead of {shape}")
    except (OSError, ValueError, TypeError) as error:
        tqdm.write(f"{path} is damaged ({error}); the pictures are decoded again")
        return None
    return Squares(_usable(array, outcomes), outcomes, f"reused {path}")


def _write(path, pictures, shape, *how):
    needed, free = math.prod(shape), shutil.disk_usage(path.parent).free
    if needed + 200 * len(pictures) > free:
        raise CacheError(
            f"the decoded pictures need {needed / 1e9:.1f} GB, and {path.parent} has "
            f"{free / 1e9:.1f} GB free; give another --cache-dir or make --image-size smaller"
        )
    part = path.with_suffix(".part")
    try:
        array = np.lib.format.open_memmap(part, "w+", np.uint8, shape)
        outcomes = decode_all(pictures, shape[1], array, *how)
        array.flush()
        path.with_suffix(".json").write_text(json.dumps(outcomes), encoding="utf-8")
        os.replace(part, path)  # from here on it counts
    except BaseException:
        part.unlink(missing_ok=True)
        raise
