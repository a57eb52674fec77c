"""Files of the download of COCO: whole ones, good ones, room for them, and who owns the folder."""

import hashlib
import io
import json
import math
import os
import shutil
import socket
import struct
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import NamedTuple

from data.fetching import DownloadError, megabytes
from PIL import Image

LOCK, INDEX = ".download.lock", ".verified.jsonl"


@contextmanager
def part_of(path):
    """A name to write a file under, so that it is never seen half written under its own."""
    part = path.with_name(path.name + ".part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_whole(path, text):
    """Write a text file by way of `part_of`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with part_of(path) as part:
        part.write_text(text, encoding="utf-8")


def check_space(folder, needed, what):
    """Raise DownloadError if the disk has no room for `needed` bytes and some reserve."""
    needed, free = math.ceil(needed * 1.05), shutil.disk_usage(folder).free
    if free < needed:
        raise DownloadError(
            f"{what} needs {megabytes(needed)} in {folder}, but only {megabytes(free)} are free; "
            "make room, choose fewer images or another folder"
        )


@contextmanager
def locked(root):
    """Keep other processes out of a folder; the system drops the lock of a dead process."""
    import fcntl  # here, so that the module can be imported where there is none

    with open(root / LOCK, "a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise DownloadError(
                f"another process downloads into {root} ({file.read().strip() or 'just begun'}); "
                "wait for it or stop it"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


class Note(NamedTuple):
    """What is noted of a file when it is found good for the first time."""

    size: int
    sha256: str

    @classmethod
    def of(cls, body):
        """The note of a file with these bytes."""
        return cls(len(body), hashlib.sha256(body).hexdigest())


class Index:
    """Notes of the files that were found good, in an append-only file of JSON lines.

    Attributes
    ----------
    notes : dict of str to Note
        By the path relative to `root`.
    """

    def __init__(self, root):
        self._root, self._file, self.notes = root, None, {}
        path = root / INDEX
        for line in path.read_bytes().splitlines() if path.exists() else ():
            # A killed process may leave a torn line, and older versions wrote no sum: such a file
            # is checked again.
            with suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                self.notes[entry["file"]] = Note(int(entry["size"]), str(entry["sha256"]))

    def intact(self, path):
        """Whether a file is there, and has the size and the SHA-256 that were noted."""
        note = self.notes.get(path)
        try:
            with (self._root / path).open("rb") as file:
                if note is None or os.fstat(file.fileno()).st_size != note.size:
                    return False
                return hashlib.file_digest(file, "sha256").hexdigest() == note.sha256
        except FileNotFoundError:
            return False

    def damaged(self, paths):
        """Those of some files that are not `intact`."""
        paths = list(paths)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            intact = list(pool.map(self.intact, paths))
        return [path for path, good in zip(paths, intact, strict=True) if not good]

    def __enter__(self):
        self._file = (self._root / INDEX).open("a", encoding="utf-8", buffering=1)
        self._file.write("\n")  # ends a torn line
        return self

    def __exit__(self, *_):
        self._file.close()

    def add(self, path, note):
        """Note that a file was found good."""
        self.notes[path] = note
        self._file.write(json.dumps({"file": path, **note._asdict()}) + "\n")


# What Pillow raises for bytes that are not, or not wholly, a picture.
_NOT_DECODED = (
    OSError,
    SyntaxError,
    ValueError,
    LookupError,
    TypeError,
    struct.error,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
)


def image_problem(body, image):
    """What is wrong with the bytes of a picture, or None."""
    wanted = (image.width, image.height)
    try:
        with Image.open(io.BytesIO(body), formats=("JPEG", "PNG")) as picture:
            # Either way round: the camera's orientation may be applied in the annotations.
            if wanted not in (picture.size, picture.size[::-1]):
                size = "x".join(map(str, picture.size))
                return f"is {size}, not {image.width}x{image.height} as annotated"
            picture.load()
    except _NOT_DECODED as error:
        return f"is no whole picture ({error})"
    return None
