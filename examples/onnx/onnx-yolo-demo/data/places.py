"""Pictures in folders, and the part of a data set that names of folders and files tell."""

import os
import re
import unicodedata
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from data.images import HEIF
from PIL import Image

PICTURES = {end for end, kind in Image.registered_extensions().items() if kind in Image.OPEN}
PICTURES |= HEIF  # without their reader, too: then they are named, not overlooked

PART_WORDS = {
    "train": {"train", "training"},
    "val": {"val", "valid", "validation"},
    "test": {"test", "testing"},
}
_KIND_WORDS = {
    "annotation", "annotations", "csv", "data", "image", "images", "imgs", "json", "label",
    "labels", "set", "txt", "xml",
}  # fmt: skip


def part_of_name(name):
    """Return the part of a data set that a file's name tells, or None: train of a_train2017.csv."""
    words = set(re.findall("[a-z]+", name.lower()))
    found = [split for split, own in PART_WORDS.items() if own & words]
    return found[0] if len(found) == 1 else None


def part_of_folders(path, root):
    """Return the part that the folders between `root` and a file tell, or None.

    A folder tells it if its name has no other words: ``val2017``, ``train_images``.
    """
    if not path.is_relative_to(root):
        return None
    for folder in path.relative_to(root).parts[:-1]:
        words = set(re.findall("[a-z]+", folder.lower())) - _KIND_WORDS
        for split, own in PART_WORDS.items():
            if words and words <= own:
                return split
    return None


def find_files(folder, ends):
    """Return the files below a folder, except hidden ones, whose names end so; sorted."""
    files = []
    for each, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        visible = (Path(each, name) for name in names if not name.startswith("."))
        files += [file for file in visible if file.suffix.lower() in ends]
    return sorted(files)


def find_pictures(folder):
    """Return the paths of the pictures in a folder and in those below it, except hidden ones."""
    return find_files(folder, PICTURES)


def relative_name(path, folder):
    """Return a path relative to a folder, with slashes; as it is where it isn't below it."""
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def plain_name(name):
    """Return a name in the form in which names are compared that tools write differently.

    Names may be encoded as in an address; Macs write an accent as a separate character.
    """
    return unicodedata.normalize("NFC", unquote(name))


def one_of(files, near, root):
    """Return the one of several files that belongs to what is in the folder `near`, or None.

    It is in that folder, or its folders tell the same part of the data set.
    """
    part = part_of_folders(near / "x", root)
    for belongs in (
        lambda file: file.parent == near,
        lambda file: part_of_folders(file, root) == part,
    ):
        if len(files) > 1:
            files = [*filter(belongs, files)] or files
    return files[0] if len(files) == 1 else None


class Pictures:
    """The pictures below a folder, found by what annotation files call them."""

    def __init__(self, folder):
        self.folder = folder

    @cached_property
    def files(self):
        return find_pictures(self.folder)

    @cached_property
    def _known(self):
        """Return the files by their names, and by their names without the ending."""
        names, stems = {}, {}
        for file in self.files:
            names.setdefault(plain_name(file.name).casefold(), []).append(file)
            stems.setdefault(plain_name(file.stem).casefold(), []).append(file)
        return names, stems

    def find(self, name, near):
        """Return the path of what a file in the folder `near` calls `name`.

        The name may have folders of another machine, capital letters, another ending, or none.
        None where no picture, or more than one, could be meant.
        """
        name = plain_name(name.replace("\\", "/")).casefold()
        last = name.rpartition("/")[2]
        names, stems = self._known
        found = names.get(last) or stems.get(last) or stems.get(last.rpartition(".")[0], [])
        if len(found) > 1:
            end = f"/{name}"
            ending = [f for f in found if plain_name(f.as_posix()).casefold().endswith(end)]
            found = ending or found
        return one_of(found, near, self.folder)
