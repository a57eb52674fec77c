"""Unpacking a data set's zip."""

import hashlib
import tempfile
import zipfile
import zlib
from pathlib import Path

from filelock import FileLock

_UTF8 = 0x800  # the flag of a name that is written so


def unpacked(archive):
    """Unpack a zip once into .cache next to it, by its content's hash; return the folder."""
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    folder = archive.parent / ".cache" / f"{archive.stem}-{digest}"
    folder.parent.mkdir(exist_ok=True)
    with FileLock(f"{folder}.lock"), tempfile.TemporaryDirectory(dir=folder.parent) as part:
        try:
            if not folder.exists():
                with zipfile.ZipFile(archive) as opened:
                    for entry in opened.infolist():
                        entry.filename = name = _name_in(entry)
                        if name.startswith("/") or ".." in name.split("/"):
                            raise ValueError(f"{archive} holds {name}, outside of it; zip it again")
                        opened.extract(entry, f"{part}/whole")
                Path(part, "whole").rename(folder)
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
            again = "save or download it again, without a password"
            raise ValueError(f"{archive} can't be unpacked: {error}; {again}") from None
    return folder


def _name_in(entry):
    """Return an entry's name with slashes; GBK where the archive doesn't say how it is encoded.

    Windows tools write backslashes, and names in the system's encoding.
    """
    name = entry.filename
    if not entry.flag_bits & _UTF8:  # zipfile takes such names for code page 437
        for encoding in ("utf-8", "gbk"):
            try:
                name = name.encode("cp437").decode(encoding)
                break
            except UnicodeError:
                continue
    return name.replace("\\", "/")
