"""One small data set, written in the forms of many tools, each by a function of `WRITERS`.

A function writes into a folder. It returns the paths by which the set can be opened, or None if
that is the folder only, or the zip in it.
"""

import csv
import json
import shutil
import zipfile
from typing import NamedTuple
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np
from PIL import Image

from tests.examples.conftest import annotation_of

NAMES = ["bolt", "large nut"]
SIZE = 40, 30


class Drawn(NamedTuple):
    """A drawn picture: its name without the ending, and (class, x1, y1, x2, y2) of its things."""

    stem: str
    things: list


PICTURES = [
    Drawn("a", [("bolt", 2, 4, 12, 14)]),
    Drawn("b c", [("large nut", 20, 6, 38, 28), ("bolt", 1, 1, 7, 9)]),
    Drawn("d", [("large nut", 5, 10, 15, 20)]),
    Drawn("é", [("bolt", 12, 3, 30, 23)]),
    Drawn("f", []),
    Drawn("g", [("bolt", 3, 3, 9, 13), ("bolt", 23, 3, 29, 13)]),
]
LAST = len(PICTURES) - 2  # two of them are for validation, where a form has parts
PARTS = {"train": PICTURES[:LAST], "val": PICTURES[LAST:]}

WRITERS = {}


def writes(function):
    WRITERS[function.__name__] = function
    return function


def pixels_of(picture):
    """Return a picture's pixels; each has its own grey, and its things have others."""
    pixels = np.full((*SIZE[::-1], 3), 30 * PICTURES.index(picture), np.uint8)
    for name, x1, y1, x2, y2 in picture.things:
        pixels[y1:y2, x1:x2] = 255 if name == "bolt" else 200
    return pixels


def draw(folder, drawn, end="png"):
    """Draw pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for picture in drawn:
        Image.fromarray(pixels_of(picture)).save(folder / f"{picture.stem}.{end}")


def coco_of(drawn, *forms):
    """Return COCO's dictionary of pictures; their names have these forms, in turn."""
    images, annotations = [], []
    for number, picture in enumerate(drawn, 1):
        name = (forms or ("{}.png",))[number % max(len(forms), 1)].format(picture.stem)
        images.append({"id": number, "file_name": name, "width": SIZE[0], "height": SIZE[1]})
        for name, x1, y1, x2, y2 in picture.things:
            box = [x1, y1, x2 - x1, y2 - y1]
            label = NAMES.index(name) + 1
            annotations.append(annotation_of(len(annotations) + 1, number, label, box))
    categories = [{"id": k, "name": name} for k, name in enumerate(NAMES, 1)]
    return {"images": images, "annotations": annotations, "categories": categories}


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def write_rows(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def yolo_lines(picture, line="{} {} {} {} {}", names=False):
    """Return the text label of a picture."""
    lines = []
    for name, x1, y1, x2, y2 in picture.things:
        width, height = SIZE
        box = (x1 + x2) / 2 / width, (y1 + y2) / 2 / height, (x2 - x1) / width, (y2 - y1) / height
        lines.append(line.format(name if names else NAMES.index(name), *box))
    return "\n".join(lines) + "\n"


def write_labels(folder, drawn, *how):
    folder.mkdir(parents=True, exist_ok=True)
    for picture in drawn:
        if picture.things:
            text = yolo_lines(picture, *how)
            (folder / f"{picture.stem}.txt").write_text(text, encoding="utf-8")


def write_voc(folder, drawn, end="png"):
    folder.mkdir(parents=True, exist_ok=True)
    for picture in drawn:
        top = ElementTree.Element("annotation")
        ElementTree.SubElement(top, "filename").text = f"{picture.stem}.{end}"
        size = ElementTree.SubElement(top, "size")
        for key, value in zip(("width", "height"), SIZE, strict=True):
            ElementTree.SubElement(size, key).text = str(value)
        for name, *corners in picture.things:
            thing = ElementTree.SubElement(top, "object")
            ElementTree.SubElement(thing, "name").text = name
            ElementTree.SubElement(thing, "difficult").text = "0"
            box = ElementTree.SubElement(thing, "bndbox")
            for key, value in zip(("xmin", "ymin", "xmax", "ymax"), corners, strict=True):
                ElementTree.SubElement(box, key).text = str(value)
        ElementTree.ElementTree(top).write(folder / f"{picture.stem}.xml", encoding="utf-8")


def write_cvat(path, parts):
    """Write a file of "CVAT for images 1.1"; `parts` are pictures by their subset, or by None."""
    top = ElementTree.Element("annotations")
    ElementTree.SubElement(top, "version").text = "1.1"
    ElementTree.SubElement(ElementTree.SubElement(top, "meta"), "dumped").text = 5000 * "x"
    for subset, drawn in parts.items():
        for picture in drawn:
            own = {"name": f"{picture.stem}.png", "width": str(SIZE[0]), "height": str(SIZE[1])}
            own |= {"subset": subset} if subset else {}
            image = ElementTree.SubElement(top, "image", own)
            ElementTree.SubElement(image, "tag", {"label": "good light"})
            for k, (name, x1, y1, x2, y2) in enumerate(picture.things):
                if k:
                    points = f"{x1},{y1};{x2},{(y1 + y2) / 2};{x1},{y2}"
                    ElementTree.SubElement(image, "polygon", {"label": name, "points": points})
                    continue
                box = zip(("xtl", "ytl", "xbr", "ybr"), map(str, (x1, y1, x2, y2)), strict=True)
                ElementTree.SubElement(image, "box", {"label": name, "occluded": "0", **dict(box)})
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(top).write(path, encoding="utf-8", xml_declaration=True)


@writes
def cvat_of_a_task(root):
    draw(root / "images", PICTURES)
    write_cvat(root / "annotations.xml", {None: PICTURES})


@writes
def cvat_of_a_project(root):
    for part, drawn in PARTS.items():
        draw(root / "images" / part, drawn)
    subsets = {"Train": PARTS["train"], "Validation": PARTS["val"]}
    write_cvat(root / "annotations.xml", subsets)


# ------------------------------------------------------------------------------ COCO


def write_parts(root, file, folder, names=("train", "val")):
    """Write the parts by these names, in files and folders with the name in their path."""
    files = [root / file.format(name) for name in names]
    for name, path, drawn in zip(names, files, PARTS.values(), strict=True):
        draw(root / folder.format(name), drawn)
        write_json(path, coco_of(drawn))
    return [root, *files]


def write_whole(root, file, folder, *forms):
    """Write all pictures as one part."""
    draw(root / folder, PICTURES)
    write_json(root / file, coco_of(PICTURES, *forms))
    return [root, root / file]


LABEL_STUDIO = (
    "images/{}.png", "images\\{}.png", "images\\1/{}.png",
    "..\\..\\label-studio\\label-studio\\media\\upload\\4\\{}.png",
    "/data/local-files/?d=pictures/{}.png",
)  # fmt: skip
OF_PARTS = {  # files, folders, and the parts' names if they aren't train and val
    "coco": ("annotations/instances_{}.json", "images/{}"),
    "coco_2017": ("annotations/instances_{}2017.json", "{}2017"),
    "coco_of_roboflow": ("{}/_annotations.coco.json", "{}", ("train", "valid")),
    "coco_of_cvat_with_parts": (
        "annotations/instances_{}.json", "images", ("Train", "Validation"),
    ),
    "coco_two_files": ("annotations/my_{}.json", "pictures"),
}  # fmt: skip
WHOLE = {
    "coco_training_alone": ("annotations/instances_train.json", "images/train"),
    "coco_of_roboflow_training_alone": ("train/_annotations.coco.json", "train"),
    "coco_of_cvat": ("annotations/instances_default.json", "images/default"),
    "coco_of_cvat_without_folders": ("annotations/instances_default.json", "images"),
    "coco_of_label_studio": ("result.json", "images", *LABEL_STUDIO),
    "coco_next_to_its_pictures": ("labels_my-project_2024-05-01.json", ""),
}
for write, layouts in ((write_parts, OF_PARTS), (write_whole, WHOLE)):
    for form, layout in layouts.items():
        WRITERS[form] = lambda root, write=write, layout=layout: write(root, *layout)


@writes
def coco_of_fiftyone(root):
    write_parts(root, "{}/labels.json", "{}/data")


@writes
def coco_with_pictures_below(root):
    draw(root / "a/first", PICTURES[:3])
    draw(root / "a/second", PICTURES[3:])
    write_json(root / "a/export.json", coco_of(PICTURES, "D:\\pictures\\{}.png"))
    (root / "a/other.json").write_text("{}")


@writes
def coco_with_an_empty_part(root):
    draw(root / "images/train", PICTURES)
    draw(root / "images/val", [])
    write_json(root / "annotations/instances_train.json", coco_of(PICTURES))
    write_json(root / "annotations/instances_val.json", coco_of([]))


# ------------------------------------------------------------------------------ text labels


def write_named(root, pictures, labels, names, *how):
    """Write pictures and labels into two folders, and a file of the classes' names, if wanted."""
    draw(root / pictures, PICTURES)
    write_labels(root / labels, PICTURES, *how)
    if names:
        (root / names).write_text("\n".join(NAMES) + "\n")


def write_yolo(root, yaml, file="data.yaml"):
    """Write parts in images and labels, and a data.yaml with these lines before the names."""
    for split, drawn in PARTS.items():
        draw(root / "images" / split, drawn)
        write_labels(root / "labels" / split, drawn)
    (root / file).write_text(f"{yaml}names: {NAMES}\n")
    return [root, root / file]


@writes
def yolo(root):
    return write_yolo(root, "train: images/train\nval: images/val\n")


@writes
def yolo_in_a_folder_called_images(root):
    return yolo(root / "images/yolo")


@writes
def yolo_elsewhere(root):
    write_yolo(root / "set", f"path: {root / 'set'}\ntrain: images/train\nval: images/val\n")
    return [(root / "set/data.yaml").rename(root / "elsewhere.yaml")]


@writes
def yolo_with_valid(root):
    return write_yolo(root, "train: images/train\nvalid: images/val\n")


@writes
def yolo_of_several_folders(root):
    paths = write_yolo(root, "train: [images/more, images/train]\nval: images/val\n")
    for kind, end in (("images", "png"), ("labels", "txt")):
        (root / kind / "more").mkdir()
        (root / kind / f"train/d.{end}").rename(root / kind / f"more/d.{end}")
    return paths


@writes
def yolo_of_ultralytics(root):
    """List pictures from their own folder; `path` is from a folder of data sets."""
    top = root / "coco"
    paths = write_yolo(top, "path: ../datasets/coco\ntrain: t.txt\nval: v.txt\n", "coco.yaml")
    for split, drawn in PARTS.items():
        listed = "".join(f"./images/{split}/{picture.stem}.png\n" for picture in drawn)
        (top / f"{split[0]}.txt").write_text(listed, encoding="utf-8")
    (top / "other.yaml").write_text("a: 1\n")
    (top / "no.yaml").write_text("[:\n")
    return paths


@writes
def yolo_of_ultralytics_coco(root):
    """COCO's file for validation only, which tells the classes of the training's text labels."""
    for split, drawn in PARTS.items():
        draw(root / f"images/{split}2017", drawn)
    write_labels(root / "labels/train2017", PARTS["train"])
    content = coco_of(PARTS["val"])
    content["categories"].reverse()
    write_json(root / "annotations/instances_val2017.json", content)


@writes
def yolo_with_backslashes(root):
    paths = write_yolo(root, "path: .\\\ntrain: ..\\images\\train\nval: 'images\\list.txt'\n")
    listed = "".join(f".\\val\\{picture.stem}.png\n" for picture in PARTS["val"])
    (root / "images/list.txt").write_text(listed)
    return paths


@writes
def yolo_training_alone(root):
    write_named(root, "images/train", "labels/train", None)
    (root / "data.yaml").write_text(f"train: images/train\nval:\nnames: {NAMES}\n")
    return [root, root / "data.yaml"]


@writes
def yolo_with_an_empty_part(root):
    draw(root / "train/images", PICTURES)
    (root / "valid/images").mkdir(parents=True)
    write_labels(root / "train/labels", PICTURES)
    text = f"train: ../train/images\nval: ../valid/images\nnc: 2\nnames: {NAMES}\n"
    (root / "data.yaml").write_text(text)


def write_label_studio(root, encoded):
    """Write names in one folder as in an address, a text that is no label next to each."""
    write_named(root, "images", "labels", "classes.txt")
    for file in [*(root / encoded).iterdir()]:
        file.rename(file.with_name(quote(file.name)))
    for file in [*(root / "images").iterdir()]:
        file.with_suffix(".txt").write_text("what is to be seen")
    (root / "notes.json").write_text('{"categories": [], "info": {}}')


@writes
def yolo_of_label_studio(root):
    write_label_studio(root, "labels")


@writes
def yolo_of_label_studio_with_encoded_pictures(root):
    write_label_studio(root, "images")


@writes
def darknet(root):
    """Labels next to the pictures, with a folder called images above them."""
    top = root / "images/archive"
    draw(top / "obj_train_data", PICTURES)
    write_labels(top / "obj_train_data", PICTURES)
    listed = "".join(f"data/obj_train_data/{picture.stem}.png\n" for picture in PICTURES)
    (top / "train.txt").write_text(listed, encoding="utf-8")
    (top / "obj.names").write_text("\n".join(NAMES))
    (top / "obj.data").write_text("classes = 2\ntrain = data/train.txt\nnames = data/obj.names\n")
    return [root, top, top / "obj.data"]


@writes
def labelimg_yolo(root):
    write_named(root, "", "", "classes.txt")


NAMED = {
    "yolo_in_another_folder": ("photos", "txt", "txt/classes.txt"),
    "yolo_with_confidences": (
        "images", "labels", "labels/classes.txt", "{} {} {} {} {} 0.75",
    ),
    "yolo_with_commas_and_names": ("images", "labels", None, "{}, {}, {}, {}, {}", True),
}  # fmt: skip
for form, layout in NAMED.items():
    WRITERS[form] = lambda root, layout=layout: write_named(root, *layout)


@writes
def yolo_in_folders_of_parts(root):
    for split, drawn in PARTS.items():
        draw(root / f"{split}_images", drawn)
        write_labels(root / f"{split}_labels", drawn)
    (root / "classes.txt").write_text("\n".join(NAMES) + "\n")


# ------------------------------------------------------------------------------ Pascal VOC


@writes
def voc(root):
    top = root / "VOCdevkit/VOC2012"
    draw(top / "JPEGImages", PICTURES, "jpg")
    draw(top / "SegmentationClass", PICTURES[:2])
    write_voc(top / "Annotations", PICTURES, "jpg")
    (top / "ImageSets/Main").mkdir(parents=True)
    for split, drawn in PARTS.items():
        names = [picture.stem for picture in drawn]
        (top / f"ImageSets/Main/{split}.txt").write_text("\n".join(names), encoding="utf-8")


@writes
def voc_of_labelimg(root):
    draw(root, PICTURES, "JPG")
    write_voc(root, [picture for picture in PICTURES if picture.things], "jpg")


@writes
def voc_in_folders_of_parts(root):
    for split, name in (("train", "train"), ("val", "valid")):
        draw(root / name / "images", PARTS[split])
        write_voc(root / name / "annotations", PARTS[split])


# ------------------------------------------------------------------------------ JSON and CSV


@writes
def labelme(root):
    for k, picture in enumerate(PICTURES):
        draw(root, [picture])
        shapes = []
        for name, x1, y1, x2, y2 in picture.things:
            points = [[x1, y1], [x2, y2]]
            kind = "rectangle"
            if k % 2:
                points, kind = [[x1, y1], [x2, y1 + 1], [x1 + 2, y2]], "polygon"
            elif x2 - x1 == y2 - y1:
                x, y = (x1 + x2) / 2, (y1 + y2) / 2
                points, kind = [[x, y], [x, y2]], "circle"
            shapes.append({"label": name, "points": points, "shape_type": kind, "flags": {}})
        write_json(root / f"{picture.stem}.json", {
            "version": "5.5.0", "flags": {}, "shapes": shapes, "imageData": None,
            "imagePath": f"{picture.stem}.png", "imageWidth": SIZE[0], "imageHeight": SIZE[1],
        })  # fmt: skip


@writes
def csv_of_roboflow(root):
    first = ["filename", "width", "height", "class", "xmin", "ymin", "xmax", "ymax"]
    for split, name in (("train", "train"), ("val", "valid")):
        draw(root / name, PARTS[split])
        rows = [
            [f"{p.stem}.png", *SIZE, *thing] for p in PARTS[split] for thing in p.things
        ]  # pictures without things are in no line
        write_rows(root / name / "_annotations.csv", [first, *rows])


@writes
def csv_of_openimages(root):
    first = ["ImageID", "Source", "LabelName", "Confidence", "XMin", "XMax", "YMin", "YMax",
             "IsOccluded", "IsTruncated", "IsGroupOf"]  # fmt: skip
    codes = [f"/m/0{k}" for k in range(len(NAMES))]
    write_rows(root / "class-descriptions-boxable.csv", zip(codes, NAMES, strict=True))
    for split, name in (("train", "train"), ("val", "validation")):
        draw(root / name, PARTS[split], "jpg")
        rows = [
            [p.stem, "xclick", codes[NAMES.index(label)], 1, x1 / SIZE[0], x2 / SIZE[0],
             y1 / SIZE[1], y2 / SIZE[1], 0, 0, 0]
            for p in PARTS[split] for label, x1, y1, x2, y2 in p.things
        ]  # fmt: skip
        write_rows(root / f"{name}-annotations-bbox.csv", [first, *rows])


@writes
def csv_of_makesense(root):
    draw(root / "images", PICTURES)
    rows = [
        [name, x1, y1, x2 - x1, y2 - y1, f"{p.stem}.png", *SIZE]
        for p in PICTURES for name, x1, y1, x2, y2 in p.things
    ]  # fmt: skip
    write_rows(root / "labels_my-project.csv", rows)


# ------------------------------------------------------------------------------ zip


@writes
def zip_of_windows(root):
    """Backslashes between folders, and names in GBK, of which the archive says nothing."""
    labelimg_yolo(root / "plain")
    with zipfile.ZipFile(root / "set.zip", "w") as archive:
        for file in sorted((root / "plain").iterdir()):
            entry = zipfile.ZipInfo("set\\" + file.name.replace("é", "@@"))
            archive.writestr(entry, file.read_bytes())
    shutil.rmtree(root / "plain")
    text = (root / "set.zip").read_bytes()
    (root / "set.zip").write_bytes(text.replace(b"@@", "é".encode("gbk")))
