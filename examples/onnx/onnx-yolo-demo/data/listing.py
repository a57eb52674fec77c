"""What a data set's files say, before any picture is read: the same for every format."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Picture(NamedTuple):
    """A picture that a data set names."""

    name: str  # relative to the image folder
    path: str
    image_id: int
    size: tuple | None  # width and height that the annotation file gives


@dataclass
class Listing:
    """Pictures and boxes of one part (training, validation) of a data set.

    Attributes
    ----------
    source : Path
        File or folder it was read from.
    image_dir : Path
    classes : list of str
    category_ids : list of int
        COCO category id of each class.
    pictures : list of Picture
    owner : int64 array (m,)
        Place in `pictures` of each box.
    label : int32 array (m,)
        Place in `classes` of each box.
    corners : float64 array (m, 4)
        ``x1, y1, x2, y2``, not yet clipped to the picture.
    fractions : bool
        `corners` are fractions of the picture's sides instead of pixels.
    excluded : dict of int to str
        Pictures, by their place in `pictures`, that must not be used, with the reason.
    other_files : list of (str, str)
        Files beside the pictures that can't be used, with the reason.
    counts : dict
        What was left out or changed on reading: ``crowd``, ``from_segmentation``,
        ``from_polygon`` and ``no_label_file`` (numbers), ``other_classes`` (boxes by class name).
    coco : dict or None
        The COCO file, if it is one.
    left_out_classes : list of str
        Names of the file that are no classes of their own.
    part : str
        Which part of `source` it is, where one file tells of several.
    """

    source: Path
    image_dir: Path
    classes: list
    category_ids: list
    pictures: list
    owner: np.ndarray
    label: np.ndarray
    corners: np.ndarray
    fractions: bool = False
    excluded: dict = field(default_factory=dict)
    other_files: list = field(default_factory=list)
    counts: dict = field(default_factory=dict)
    coco: dict | None = None
    left_out_classes: list = field(default_factory=list)
    part: str = ""


def choose_classes(source, available, wanted):
    """Check the wanted class names against those of a data set.

    Parameters
    ----------
    source : path-like
        For the message.
    available : sequence of str
    wanted : sequence of str or None
        None takes all, in the data set's order.

    Returns
    -------
    list of str

    Raises
    ------
    ValueError
        An unknown name (the message lists what there is), one named twice, or none.
    """
    wanted = list(available if wanted is None else wanted)
    unknown = [name for name in wanted if name not in available]
    if unknown:
        lower = {name.lower(): name for name in available}
        meant = [repr(lower[name.lower()]) for name in unknown if name.lower() in lower]
        hint = f" (did you mean {', '.join(meant)}?)" if meant else ""
        raise ValueError(
            f"{source} has no category {unknown}{hint}; available: {sorted(available)}"
        )
    if not wanted or len(set(wanted)) != len(wanted):
        raise ValueError(f"classes must be distinct names, at least one; got {wanted}")
    return wanted
