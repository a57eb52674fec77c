"""Reading text labels in YOLO's format, as tools and people write them."""

import re
from collections import Counter
from pathlib import Path

from data.keypoints import LINES, guess_shape
from data.listing import Listing, Picture, boxes_of, choose_classes, place_in, share_of
from data.places import (
    PICTURES,
    find_files,
    find_pictures,
    one_of,
    plain_name,
    relative_name,
)

_LOWEST, _HIGHEST = -0.01, 1.01  # coordinates beyond are wrong, not merely rounded
_DOTA = (
    "looks like DOTA's rotated boxes, in pixels with the class at the end; write them as the class "
    "number and four corners as fractions of the picture (YOLO-OBB), and the boxes around them are "
    "taken"
)


def read_yolo(part, classes=None, limit=None, share=None, some=False):
    """Read the pictures and text labels of one part of a data set, as a `Listing`.

    The labels of ``…/images/…/a.jpg`` are in ``…/labels/…/a.txt``, or in a file next to it; if
    there are none at all, in the only file of that name below the data set's folder. A line holds
    the class, by its number or its name, and ``cx cy w h`` as fractions of the upright picture, or
    the class and a polygon ``x1 y1 x2 y2 x3 y3 …``, whose bounding box is taken; blanks or commas
    are between them. A confidence behind a box is not used. Where `part` has keypoints, a line may
    hold them behind the box, and no polygon. A picture with a line that is malformed, has a
    coordinate above 1.01 or below -0.01, or a class that doesn't exist, is excluded; one without a
    label file is background. Pictures are sorted by name and numbered from 1.

    `limit` is how many pictures to take, the first by name; with `some`, the set may lack some of
    the classes. `share` is as in `formats.read_coco`. ValueError if no picture has labels, or if
    these seem to have keypoints and `part` says nothing of them, or to count classes from 1.
    """
    classes = choose_classes(part.source, part.names, classes, some)
    only_folder = len(part.entries) == 1 and part.entries[0].is_dir()
    image_dir = part.entries[0] if only_folder else part.root
    named = sorted((relative_name(file, image_dir), file) for file in pictures_of(part))
    labels = label_files([file for _, file in named], part.root)
    if labels and not any(map(Path.is_file, labels)):
        raise ValueError(
            f"{part.source}: none of the {len(labels)} pictures has a label file; {labels[0]} "
            f"would be that of {named[0][1]}"
        )
    alone = _labels_alone(labels) if only_folder else 0  # a list may leave some out on purpose
    counts = {"labels_alone": alone}
    if share is not None:
        counts["undivided"] = len(named)
        kinds = {n: _kinds(file) for (n, _), file in zip(named, labels, strict=True)}
        chosen = {*share_of(part.source, [*kinds], share, kinds)}
        labels = [file for file, (name, _) in zip(labels, named, strict=True) if name in chosen]
        named = [each for each in named if each[0] in chosen]
    pictures = [Picture(name, str(file), n, None) for n, (name, file) in enumerate(named, start=1)]
    rows, excluded, found = _read_labels(part, classes, labels[:limit])
    return Listing(
        part.source,
        image_dir,
        classes,
        [part.names.index(name) + 1 for name in classes],
        pictures[:limit],
        boxes_of(rows, fractions=True),
        boxes_of([], fractions=True),  # the format has no regions
        counts | found,
        excluded=excluded,
        notes=_shared(pictures[:limit], labels[:limit]),
    )


# ------------------------------------------------------------------------------ files


def pictures_of(part):
    """Return the paths of the pictures of a `YoloPart`, without repeats."""
    files = []
    for entry in part.entries:
        if entry.is_dir():
            files += find_pictures(entry)
        elif entry.suffix.lower() in PICTURES:
            files.append(entry)
        else:
            files += _listed_pictures(entry, part.root)
    return list(dict.fromkeys(files))


def _listed_pictures(file, root):
    """Return the paths of the pictures that a text file lists, one a line."""
    files = []
    lines = file.read_text(encoding="utf-8-sig").splitlines()
    for name in (line.strip() for line in lines if line.strip()):
        # CVAT's older versions put data/ before all paths.
        names = dict.fromkeys((name, name.removeprefix("data/")))
        places = (place_in(top, n) for n in names for top in (root, file.parent))
        there = next(filter(Path.exists, places), None)
        files.append(there or place_in(file.parent, name))
    return files


def _label_file(path):
    """Return where the labels of a picture are, or would be."""
    path = Path(path).absolute()
    head, images, tail = path.as_posix().rpartition("/images/")
    near, own = path.with_suffix(".txt"), Path(f"{head}/labels/{tail}").with_suffix(".txt")
    return own if images and (own.parent.is_dir() or not near.exists()) else near


def label_files(pictures, root):
    """Return where the labels of pictures are; either name may be encoded as in an address.

    Where none is in its usual place, they are anywhere below `root`.
    """
    files = [_label_file(picture) for picture in pictures]
    absent = [place for place, file in enumerate(files) if not file.exists()]
    taken, known = {*files}, {}
    for place in absent:
        folder, name = files[place].parent, plain_name(files[place].name)
        if folder not in known:
            others = (file for file in folder.glob("*.txt") if file not in taken)
            known[folder] = {plain_name(file.name): file for file in others}
        files[place] = known[folder].get(name, files[place])
    return files if any(map(Path.is_file, files)) else _labels_below(root, pictures, files)


def _labels_below(root, pictures, otherwise):
    """Return the only label file below `root` that is called like each picture, if there is one."""
    found = {}
    for file in find_files(root, {".txt"}):
        found.setdefault(plain_name(file.stem).casefold(), []).append(file)
    files = []
    for picture, other in zip(pictures, otherwise, strict=True):
        own = found.get(plain_name(Path(picture).stem).casefold(), [])
        files.append(one_of(own, Path(picture).parent, root) or other)
    return files


def _labels_alone(files):
    """Count the files in folders of labels that belong to no picture."""
    folders = {file.parent for file in files if "labels" in file.parts}
    found = {file for folder in folders for file in folder.glob("*.txt")}
    return len(found - {*files, *(folder / "classes.txt" for folder in folders)})


def _shared(pictures, labels):
    """Return notes, by place, of pictures that have one label file: a.jpg and a.png have a.txt."""
    own = {}
    for picture, file in zip(pictures, labels, strict=True):
        own.setdefault(file, []).append(picture.name)
    return {
        place: f"shares {file.name} with "
        f"{', '.join(name for name in own[file] if name != picture.name)}: the boxes can't be "
        "known to be of both; rename or remove one"
        for place, (picture, file) in enumerate(zip(pictures, labels, strict=True))
        if len(own[file]) > 1 and file.is_file()
    }


# ------------------------------------------------------------------------------ lines


def _read_labels(part, classes, files):
    """Return rows (place, class, x1, y1, x2, y2), reasons by place in `files`, and counts."""
    wanted = {part.names.index(name): label for label, name in enumerate(classes)}
    rows, excluded, counts, other_classes, long = [], {}, Counter(), Counter(), []
    numbers = set()
    for place, file in enumerate(files):
        try:
            text = file.read_text(encoding="utf-8-sig")
            found = _read_lines(text, part, long, numbers)
        except FileNotFoundError:
            counts["no_label_file"] += 1
            continue
        except (OSError, ValueError) as error:  # not UTF-8, or a wrong line
            excluded[place] = f"labels {relative_name(file, part.root.absolute())}: {error}"
            continue
        for number, kind, corners in found:
            if number in wanted:
                counts[kind] += 1
                rows.append((place, wanted[number], *corners))
            else:
                other_classes[part.names[number]] += 1
    if part.keypoints is None and (shape := guess_shape(long)):
        raise ValueError(
            f"{part.source}: lines of {5 + shape[0] * shape[1]} numbers in the labels look like "
            f"boxes with {shape[0]} keypoints of {shape[1]} numbers, not like polygons: put "
            f"kpt_shape: [{shape[0]}, {shape[1]}] into data.yaml, and the boxes are taken, or "
            "kpt_shape: [0, 2] if they are polygons"
        )
    if numbers and min(numbers) > 0 and max(numbers) == len(part.names):
        raise ValueError(
            f"{part.source}: the labels have classes {min(numbers):g} to {max(numbers):g}, and "
            f"there are {len(part.names)} names: they look like numbers from 1, but YOLO's are "
            "from 0; subtract 1 from them, or put a name for 0 before the others"
        )
    del counts["box"]
    return rows, excluded, {**counts, "other_classes": dict(other_classes)}


def class_words(files):
    """Return the names that label files have instead of class numbers, sorted."""
    names = set().union(*map(_kinds, files))
    return sorted(name for name in names if not _is_number(name))


def _kinds(file):
    """Return the classes in a label file as it has them; none of one that can't be read."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError):  # without labels, or named when they are read
        return set()
    return {_words(line)[0] for line in lines if line.strip()}


def _words(line):
    """Return the words of a line: the class, and numbers; a class's name may have blanks."""
    if re.search(r"\d,\d+\s+-?\d+,\d", line):  # 0,25 is a quarter where commas are decimal
        words = line.replace(",", ".").split()
    else:
        words = line.replace(",", " ").split()
    count = next((k for k, word in enumerate(words) if _is_number(word)), len(words))
    return [" ".join(words[:count]), *words[count:]] if count else words


def _is_number(word):
    try:
        float(word)
    except ValueError:
        return False
    return True


def _read_lines(text, part, long, numbers):
    """Return (class, kind, corners) of every line; ValueError names a wrong one.

    Class numbers are added to `numbers`, and the first `LINES` lines that are no plain boxes to
    `long`, even if they are wrong.
    """
    if text.startswith(("imagesource:", "gsd:")):
        raise ValueError(_DOTA)
    rows = []
    for count, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            label, *values = _words(line)
            if [*map(_is_number, (label, *values[:8]))] == [True] * 8 + [False]:
                raise ValueError(_DOTA)
            number = _class_number(label, part.names)
            values = [*map(float, values)]
            if len(values) > 5 and len(long) < LINES:
                long.append(values)
            numbers.add(number)
            if not number.is_integer() or not 0 <= number < len(part.names):
                raise ValueError(f"class {label}, but there are {len(part.names)} classes, from 0")
            rows.append((int(number), *_read_shape(values, part.keypoints)))
        except ValueError as error:
            raise ValueError(f"line {count}: {error}") from None
    return rows


def _class_number(label, names):
    if _is_number(label):
        return float(label)
    if label not in names:
        raise ValueError(f"class {label!r}, but the classes are {', '.join(names[:9])}")
    return float(names.index(label))


def _read_shape(values, keypoints):
    """Return kind and corners of the numbers after a line's class."""
    kind = "box"
    if keypoints and keypoints[0]:
        more = keypoints[0] * keypoints[1]
        if len(values) not in (4, 4 + more):
            raise ValueError(
                f"{len(values) + 1} numbers; a box has 5, and with keypoints (kpt_shape) {5 + more}"
            )
        kind, values = "box" if len(values) == 4 else "from_keypoints", values[:4]
    elif len(values) == 5:
        *values, confidence = values
        if not 0 <= confidence <= 1:
            raise ValueError(f"{confidence:g} is no confidence of a box (0 to 1)")
        kind = "with_confidence"
    elif len(values) != 4:
        kind = "from_polygon"
        if len(values) < 6 or len(values) % 2:
            raise ValueError(
                f"{len(values) + 1} numbers; a box has 5 (6 with its confidence), a polygon an odd "
                "number from 7 upwards"
            )
    for value in values:
        if not _LOWEST <= value <= _HIGHEST:  # true for NaN
            raise ValueError(f"{value:g} is no fraction of the picture (0 to 1)")
    if kind == "from_polygon":
        xs, ys = values[::2], values[1::2]
        return kind, (min(xs), min(ys), max(xs), max(ys))
    x, y, w, h = values
    return kind, (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
