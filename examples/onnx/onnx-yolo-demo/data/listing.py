"""What the files of a data set say, and where they lie."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

SPLITS = ("train", "val", "test")


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
    root : Path
        The data set's folder, beside whose files decoded pictures may be kept.
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
        What was left out or changed on reading: ``crowd``, ``from_polygon`` and
        ``no_label_file`` (numbers), ``other_classes`` (boxes by class name).
    coco : dict or None
        The COCO file, if it is one.
    left_out_classes : list of str
        Names of the file that are no classes of their own.
    part : str
        Which part of `source` it is, where one file tells of several.
    """

    source: Path
    root: Path
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


def existing(root, name):
    """``root / name``, with Windows' separators in the name understood."""
    place = root / name
    return root / name.replace("\\", "/") if "\\" in name and not place.exists() else place


# ------------------------------------------------------------------------------ COCO's layouts


class DataPaths(NamedTuple):
    """Annotation files and image folders of a COCO-format data set."""

    train_json: Path
    train_images: Path
    val_json: Path
    val_images: Path

    def part(self, split):
        """(annotation file, image folder) of the training or validation part."""
        if split == "test":
            raise FileNotFoundError(f"{self.train_json} and {self.val_json}: no part test")
        return self[:2] if split == "train" else self[2:]


_LAYOUTS = [  # annotation file, image folder
    ("annotations/instances_{}.json", "images/{}"),
    ("annotations/instances_{}2017.json", "{}2017"),
    ("annotations/instances_{}2017.json", "images/{}2017"),
    ("annotations/instances_{}.json", "{}"),
    ("annotations/{}.json", "images/{}"),
    ("{}/_annotations.coco.json", "{}"),  # Roboflow
    ("{}/labels.json", "{}/data"),  # FiftyOne
    ("{}.json", "images/{}"),
    ("{}.json", "{}"),
]
_NAMES = {"train": ["train"], "val": ["val", "valid", "validation"], "test": ["test"]}


def find_part(path, split):
    """Locate one part of a COCO-format data set, whether or not the others are there.

    Parameters
    ----------
    path : path-like
        A folder, or an annotation file of any part in it. The folder holds
        ``annotations/instances_{train,val}.json`` and ``images/{train,val}``, or COCO's
        ``annotations/instances_{train,val}2017.json`` and ``{train,val}2017``, or Roboflow's
        ``{train,valid}/_annotations.coco.json`` beside the pictures, or another of `_LAYOUTS`.
        The validation part may be called val, valid or validation.
    split : str
        ``"train"``, ``"val"`` or ``"test"``.

    Returns
    -------
    annotation_file, image_dir : Path

    Raises
    ------
    FileNotFoundError
        With everything that was looked for.
    """
    path = Path(path)
    roots, layouts = [path], _LAYOUTS
    if path.is_file():
        path = path.absolute()  # so that it has a parent's parent
        roots = [path.parent.parent, path.parent]
        names = [name for split in SPLITS for name in _NAMES[split]]
    for root in roots:
        for layout in layouts:
            if path.is_file() and path not in [root / layout[0].format(name) for name in names]:
                continue
            for name in _NAMES[split]:
                found = root / layout[0].format(name), root / layout[1].format(name)
                if all(part.exists() for part in found):
                    return found
    wanted = "; ".join(" + ".join(layout).replace("{}", split) for layout in layouts)
    also = " (or valid or validation instead of val)" if split == "val" else ""
    raise FileNotFoundError(f"no COCO-format {split} part in {path}: looked for {wanted}{also}")


def find_data(path):
    """Locate the training and validation parts of a COCO-format data set; see `find_part`.

    Returns
    -------
    DataPaths
    """
    return DataPaths(*find_part(path, "train"), *find_part(path, "val"))


# ------------------------------------------------------------------------------ YOLO's layouts


class YoloPart(NamedTuple):
    """Where a part of a data set with YOLO text labels lies.

    Attributes
    ----------
    source : Path
        The ``data.yaml``, or the file with the class names.
    root : Path
        Folder that the others are relative to.
    names : list of str
        Class names by their number.
    split : str
    entries : list of Path
        Folders of pictures, or text files that list pictures.
    """

    source: Path
    root: Path
    names: list
    split: str
    entries: list


def find_yolo(path, split):
    """Locate a part of a data set with YOLO text labels.

    Parameters
    ----------
    path : path-like
        A ``data.yaml`` with ``train``, ``val`` and ``names`` (and ``path``), or a folder with
        one. Otherwise the folder holds ``images/{train,val}`` and ``labels/{train,val}``, or
        ``{train,val}/images`` and ``{train,val}/labels``, and the class names, one a line, in
        ``classes.txt`` or ``obj.names``. The validation part may be called valid.
    split : str
        ``"train"``, ``"val"`` or ``"test"``.

    Returns
    -------
    YoloPart

    Raises
    ------
    FileNotFoundError
        Naming what is missing.
    ValueError
        The file with the names is wrong.
    """
    path = Path(path)
    if path.is_file():
        return _from_yaml(path, split)
    files = yaml_files(path)
    if len(files) == 1:
        return _from_yaml(files[0], split)
    if files:
        raise FileNotFoundError(f"{path} holds {[f.name for f in files]}: name the one to use")
    lists = [
        path / folder / name for name in ("classes.txt", "obj.names") for folder in ("", "labels")
    ]
    found = [file for file in lists if file.is_file()]
    for pattern in ("images/{}", "{}/images"):
        for name in ("val", "valid") if split == "val" else (split,):
            folder = path / pattern.format(name)
            if folder.is_dir() and found:
                names = found[0].read_text(encoding="utf-8-sig").rstrip().splitlines()
                names = _checked_names(found[0], [name.strip() for name in names])
                return YoloPart(found[0], path, names, split, [folder])
    raise FileNotFoundError(
        f"no YOLO-format {split} part in {path}: it must hold data.yaml, or images/{split}, "
        f"labels/{split} and classes.txt or obj.names"
    )


def yaml_files(folder):
    """The files of a folder that may describe a data set, by name where a usual one is there."""
    files = [folder / name for name in ("data.yaml", "data.yml", "dataset.yaml")]
    return [file for file in files if file.is_file()][:1] or sorted(folder.glob("*.y*ml"))


def _checked_names(path, names):
    if not isinstance(names, list) or not all(isinstance(n, str) and n for n in names) or not names:
        raise ValueError(f"{path}: names must be a list or a mapping of texts; got {names}")
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"{path} names classes twice: {', '.join(twice)}")
    return names


def _from_yaml(path, split):
    try:
        # Every scalar stays text: a class may be called ``no`` or ``1``.
        content = yaml.load(path.read_text(encoding="utf-8-sig"), yaml.BaseLoader)
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"{path} is no valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold lines of the form `key: value`")
    content.setdefault("val", content.get("valid", ""))  # the name that some tools give it
    missing = [key for key in (split, "names") if not content.get(key)]
    if missing:
        raise ValueError(f"{path} lacks {', '.join(missing)}")
    names = content["names"]
    if isinstance(names, dict):
        if list(names) != [str(k) for k in range(len(names))]:
            raise ValueError(
                f"{path}: names must be numbered 0, 1, 2, … in this order; got {', '.join(names)}"
            )
        names = list(names.values())
    _checked_names(path, names)
    if str(content.get("nc", len(names))) != str(len(names)):
        raise ValueError(f"{path}: nc is {content['nc']}, but there are {len(names)} names")
    root = path.parent / Path(str(content.get("path", ""))).expanduser()
    if not root.is_dir():
        raise FileNotFoundError(
            f"{path}: its path, {root}, is no folder; correct it, or remove it if the pictures "
            "lie beside the file"
        )
    return YoloPart(path, root, names, split, _entries(path, root, split, content[split]))


def _entries(path, root, split, entries):
    entries = [entries] if isinstance(entries, str) else entries
    if isinstance(entries, dict) or not all(isinstance(entry, str) for entry in entries):
        raise ValueError(f"{path}: {split} must be a folder, a text file, or a list of them")
    found = []
    for entry in entries:
        place = existing(root, str(Path(entry).expanduser()))
        if not place.exists() and entry.startswith("../"):
            place = root / entry[3:]  # Roboflow writes ../train/images for train/images
        if not place.exists():
            raise FileNotFoundError(
                f"{path}: {split} is {entry}, but {root / entry} does not exist"
            )
        found.append(place)
    return found


# ------------------------------------------------------------------------------ any of them


def find(path, split):
    """Locate a part of a data set of any kind.

    Parameters
    ----------
    path : path-like or DataPaths
        A folder, a ``data.yaml`` or a COCO annotation file; see `find_part` and `find_yolo`.
    split : str
        ``"train"``, ``"val"`` or ``"test"``.

    Returns
    -------
    (annotation_file, image_dir) of COCO, or YoloPart

    Raises
    ------
    FileNotFoundError
        Nothing there that is known; the message lists what was looked for.
    ValueError
        A file that is none of these, or whose content is wrong.
    """
    if isinstance(path, DataPaths):
        return path.part(split)
    path = Path(path).expanduser()  # shells leave --data=~/x as it is
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist: give a folder, data.yaml or COCO JSON")
    if path.suffix.lower() == ".json":
        return find_part(path, split)
    if path.suffix.lower() in (".yaml", ".yml"):
        return find_yolo(path, split)
    if path.is_file():
        raise ValueError(f"{path} is neither a folder nor a .yaml nor a .json file")
    try:
        return find_part(path, split)
    except FileNotFoundError as error:
        not_coco = error
    try:
        return find_yolo(path, split)
    except FileNotFoundError as error:
        if yaml_files(path):  # what is wrong with it is all that matters
            raise
        raise FileNotFoundError(f"{not_coco}; {error}") from None
