"""Two sets of labels in one folder, of which a person may have corrected either."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
from data.listing import YoloPart

_NEAR = 1.5  # pixels, for tools that round or count from 1


def check_same_labels(path, parts, listings, classes):
    """Raise ValueError if two `Listing`s of a folder's parts differ in a picture that both have.

    Only `classes` are compared, if given. Pictures that either can't use aren't compared.
    """
    own, others = (_by_picture(listing, classes) for listing in listings)
    common = sorted(own.keys() & others.keys())
    differing = [each for each in common if not _agree(own[each], others[each])]
    if not differing:
        return
    names = [_name(part) for part in parts]
    files = [f"--data {name}" for name in names if name.endswith(".json")]
    raise ValueError(
        f"{path} has two sets of labels, which differ in {len(differing)} of {len(common)} "
        f"pictures, such as {Path(differing[0]).name}: {' and '.join(names)}; move the wrong one "
        f"away{', or give ' if files else ''}{' or '.join(files)}"
    )


def _name(part):
    """Return what a person calls the labels of a part."""
    if isinstance(part, YoloPart):
        return "text labels (.txt)"
    return str(getattr(part, "source", part[0]))


def _by_picture(listing, classes):
    """Return (size, class names, corners, whether they are fractions) by a picture's path."""
    boxes, found = listing.boxes, {}
    wanted = [classes is None or name in classes for name in listing.classes]
    order = np.argsort(boxes.owner, kind="stable")
    order = order[np.array(wanted)[boxes.label[order]]]
    bounds = np.searchsorted(boxes.owner[order], np.arange(len(listing.pictures) + 1))
    for place, picture in enumerate(listing.pictures):
        if place not in listing.excluded:
            own = order[bounds[place] : bounds[place + 1]]
            names = [listing.classes[label] for label in boxes.label[own]]
            found[os.path.abspath(picture.path)] = (
                picture.size, names, boxes.corners[own], boxes.fractions[own, None]
            )  # fmt: skip
    return found


def _agree(one, other):
    """Return whether a picture has the same boxes twice; of unknown size, only the same classes."""
    if Counter(one[1]) != Counter(other[1]):
        return False
    size = one[0] or other[0]
    if size is None:
        return True
    sides = np.tile(size, 2)
    pixels = [np.where(each[3], each[2] * sides, each[2]) for each in (one, other)]
    near = (np.abs(pixels[0][:, None] - pixels[1]) <= _NEAR).all(axis=2)
    near &= np.array(one[1])[:, None] == np.array(other[1])
    return bool(near.any(axis=0).all() and near.any(axis=1).all())
