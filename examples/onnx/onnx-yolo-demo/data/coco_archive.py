"""The archive of COCO's annotations: fetching, resuming, checking and unpacking it."""

import hashlib
import json
import os
import re
import shutil
import zipfile
import zlib

from data.coco_files import check_space, part_of, write_whole
from data.fetching import DownloadError, FetchError, megabytes

ARCHIVE = "annotations_trainval2017.zip"
ARCHIVE_BYTES = 252_907_541  # where the server does not say
# COCO publishes no sums: this is the one that data set libraries state who have downloaded it,
# see thoughts/shared/research/coco.md.
ARCHIVE_SHA256 = "113a836d90195ee1f884e704da6304dfaaecff1f023f49b6ca93c4aaae470268"
UNCHECKED = "unchecked"
UNPACKED_SHARE = 2.0  # bytes of the two instances files per byte of the archive
MAX_MEMBER_BYTES = 2 << 30  # COCO's largest file has 0.47 GB
INSTANCES = ("instances_train2017.json", "instances_val2017.json")


def wanted_sum():
    """SHA-256 of the archive that is to be fetched, as hexadecimal text; None for any archive.

    Raises
    ------
    DownloadError
        $COCO_ANNOTATIONS_SHA256, which names another than COCO's, is none.
    """
    text = os.environ.get("COCO_ANNOTATIONS_SHA256", "").strip().lower() or ARCHIVE_SHA256
    if text == UNCHECKED:
        return None
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise DownloadError(
            f"COCO_ANNOTATIONS_SHA256 must be 64 hexadecimal digits, or {UNCHECKED}; got {text}"
        )
    return text


class _Refused(DownloadError):
    """The archive holds what it must not."""


def unpack(path, folder):
    """Unpack the two instances files of an archive, and nothing else, into `folder`.

    Whatever names and links the archive holds, nothing is written elsewhere.

    Raises
    ------
    DownloadError
        One of the two is missing or too large, or the disk is full.
    zipfile.BadZipFile
        The archive is damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = [_member(archive, f"annotations/{name}") for name in INSTANCES]
            check_space(folder, sum(m.file_size for m in members), "unpacking the annotations")
            for name, member in zip(INSTANCES, members, strict=True):
                with (
                    archive.open(member) as source,
                    part_of(folder / name) as part,
                    part.open("wb") as file,
                ):
                    shutil.copyfileobj(source, file, 1 << 20)
    except DownloadError:
        raise
    except (zlib.error, EOFError, RuntimeError) as error:  # the last: encrypted, unknown method
        raise zipfile.BadZipFile(str(error)) from None


def _member(archive, name):
    try:
        member = archive.getinfo(name)
    except KeyError:
        raise _Refused(f"{ARCHIVE} is refused and was deleted: it lacks {name}") from None
    if member.file_size > MAX_MEMBER_BYTES:
        raise _Refused(
            f"{ARCHIVE} is refused and was deleted: {name} would unpack to "
            f"{megabytes(member.file_size)}"
        )
    return member


class Archive:
    """The archive of annotations at `url` on its way into `folder`.

    A note beside the part on the disk says which address, length and version of the file it
    belongs to. The `image_bytes` that will be fetched afterwards must fit on the disk too.
    """

    def __init__(self, url, folder, image_bytes, bar):
        self.url, self.folder, self.image_bytes, self.bar = url, folder, image_bytes, bar
        self.wanted = wanted_sum()
        self._part = folder / (ARCHIVE + ".part")
        self._note = folder / (ARCHIVE + ".part.json")

    def fetch(self, session):
        """Fetch and unpack it, in as many attempts as it takes, or raise DownloadError."""
        try:
            session.retry(lambda: self._attempt(session), self._size)
        except FetchError as error:
            raise DownloadError(
                f"{self.url}: {error}; check the network and COCO_BASE_URL; what is there stays, "
                "run again to go on"
            ) from None

    def _attempt(self, session):
        note = self._resumable()
        if note is None or self._size() < note["length"]:
            self._transfer(session, note)
        try:
            self._check()
            unpack(self._part, self.folder)
        except zipfile.BadZipFile as error:
            self._discard()
            raise FetchError(f"it is damaged ({error})", permanent=True) from None
        except _Refused:
            self._discard()
            raise
        self._discard()

    def _check(self):
        with self._part.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if self.wanted not in (None, found):
            self._discard()
            raise FetchError(
                f"the SHA-256 of the archive is {found}, not {self.wanted} "
                "(COCO_ANNOTATIONS_SHA256 names another)",
                permanent=True,
            )

    def _size(self):
        return self._part.stat().st_size if self._part.exists() else 0

    def _discard(self):
        self._part.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def _resumable(self):
        """The note, if the part can be gone on with; otherwise None, and nothing is left."""
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
            if note["url"] == self.url and 0 < self._size() <= (note["length"] or 0):
                return note
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            pass  # a part without a readable note is worth nothing
        self._discard()
        return None

    def _transfer(self, session, note):
        headers, size = {}, self._size()
        if note:
            headers = {"Range": f"bytes={size}-"}
            if note["validator"]:
                headers["If-Range"] = note["validator"]
        response = session.open(self.url, headers)
        if response.status == 200:
            self._begin(response)
        else:
            expected = f"bytes {size}-{note['length'] - 1}/{note['length']}" if note else None
            if response.status != 206 or response.headers.get("Content-Range") != expected:
                session.close()
                self._discard()
                raise FetchError("the server's file has changed; begun again")
        self._receive(session, response)

    def _begin(self, response):
        """Make an empty part, with the note of the file that the server has now."""
        self._discard()
        validator = response.headers.get("ETag") or response.headers.get("Last-Modified")
        note = {"url": self.url, "length": response.length, "validator": validator}
        write_whole(self._note, json.dumps(note))
        self._part.touch()

    def _receive(self, session, response):
        left = ARCHIVE_BYTES if response.length is None else response.length
        size = self._size()
        needed = left + UNPACKED_SHARE * (size + left) + self.image_bytes
        check_space(self.folder, needed, "the download")
        self.bar.reset(size + left)
        self.bar.n = self.bar.initial = size
        with self._part.open("ab") as file:
            for chunk in session.chunks(response):
                file.write(chunk)
                self.bar.update(len(chunk))
