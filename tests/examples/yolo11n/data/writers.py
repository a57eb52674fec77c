"""One small data set, written in the forms of many tools, each by a function of `WRITERS`."""

import csv
import json
import shutil
import zipfile
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from PIL import Image

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


def draw(folder, drawn, end="png"):
    """Draw pictures into a folder; each has its own grey."""
    folder.mkdir(parents=True, exist_ok=True)
    for picture in drawn:
        pixels = np.full((*SIZE[::-1], 3), 30 * PICTURES.index(picture), np.uint8)
        for name, x1, y1, x2, y2 in picture.things:
            pixels[y1:y2, x1:x2] = 255 if name == "bolt" else 200
        Image.fromarray(pixels).save(folder / f"{picture.stem}.{end}")


def coco_of(drawn, folder=""):
    """Return COCO's dictionary of pictures."""
    images, annotations = [], []
    for number, picture in enumerate(drawn, 1):
        name = f"{folder}{picture.stem}.png"
        images.append({"id": number, "file_name": name, "width": SIZE[0], "height": SIZE[1]})
        for name, x1, y1, x2, y2 in picture.things:
            annotations.append({
                "id": len(annotations) + 1, "image_id": number, "iscrowd": 0,
                "category_id": NAMES.index(name) + 1, "bbox": [x1, y1, x2 - x1, y2 - y1],
                "area": (x2 - x1) * (y2 - y1),
            })  # fmt: skip
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


def write_labels(folder, drawn, *how, **more):
    folder.mkdir(parents=True, exist_ok=True)
    for picture in drawn:
        if picture.things:
            text = yolo_lines(picture, *how, **more)
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


@writes
def coco(root):
    for split, drawn in PARTS.items():
        draw(root / "images" / split, drawn)
        write_json(root / f"annotations/instances_{split}.json", coco_of(drawn))


@writes
def coco_next_to_its_pictures(root):
    draw(root, PICTURES)
    write_json(root / "labels_my-project_2024-05-01.json", coco_of(PICTURES))


@writes
def coco_of_fiftyone(root):
    for split, drawn in PARTS.items():
        draw(root / split / "data", drawn)
        write_json(root / split / "labels.json", coco_of(drawn))


@writes
def coco_with_pictures_below(root):
    draw(root / "a/first", PICTURES[:3])
    draw(root / "a/second", PICTURES[3:])
    write_json(root / "a/export.json", coco_of(PICTURES, "D:\\pictures\\"))
    (root / "a/other.json").write_text("{}")


@writes
def coco_two_files(root):
    draw(root / "pictures", PICTURES)
    for split, drawn in PARTS.items():
        write_json(root / f"annotations/my_{split}.json", coco_of(drawn))


@writes
def coco_with_an_empty_part(root):
    draw(root / "images/train", PICTURES)
    draw(root / "images/val", [])
    write_json(root / "annotations/instances_train.json", coco_of(PICTURES))
    write_json(root / "annotations/instances_val.json", coco_of([]))


# ------------------------------------------------------------------------------ text labels


@writes
def yolo(root):
    for split, drawn in PARTS.items():
        draw(root / "images" / split, drawn)
        write_labels(root / "labels" / split, drawn)
    names = "\n".join(f"  {k}: {name}" for k, name in enumerate(NAMES))
    (root / "data.yaml").write_text(f"train: images/train\nval: images/val\nnames:\n{names}\n")


@writes
def yolo_with_an_empty_part(root):
    draw(root / "train/images", PICTURES)
    (root / "valid/images").mkdir(parents=True)
    write_labels(root / "train/labels", PICTURES)
    text = f"train: ../train/images\nval: ../valid/images\nnc: 2\nnames: {NAMES}\n"
    (root / "data.yaml").write_text(text)


@writes
def darknet(root):
    draw(root / "obj_train_data", PICTURES)
    write_labels(root / "obj_train_data", PICTURES)
    listed = "".join(f"data/obj_train_data/{picture.stem}.png\n" for picture in PICTURES)
    (root / "train.txt").write_text(listed, encoding="utf-8")
    (root / "obj.names").write_text("\n".join(NAMES))
    (root / "obj.data").write_text("classes = 2\ntrain = data/train.txt\nnames = data/obj.names\n")


@writes
def labelimg_yolo(root):
    draw(root, PICTURES)
    write_labels(root, PICTURES)
    (root / "classes.txt").write_text("\n".join(NAMES) + "\n")


@writes
def yolo_in_another_folder(root):
    draw(root / "photos", PICTURES)
    write_labels(root / "txt", PICTURES)
    (root / "txt/classes.txt").write_text("\n".join(NAMES) + "\n")


@writes
def yolo_in_folders_of_parts(root):
    for split, drawn in PARTS.items():
        draw(root / f"{split}_images", drawn)
        write_labels(root / f"{split}_labels", drawn)
    (root / "classes.txt").write_text("\n".join(NAMES) + "\n")


@writes
def yolo_with_confidences(root):
    draw(root / "images", PICTURES)
    write_labels(root / "labels", PICTURES, "{} {} {} {} {} 0.75")
    (root / "labels/classes.txt").write_text("\n".join(NAMES) + "\n")


@writes
def yolo_with_commas_and_names(root):
    draw(root / "images", PICTURES)
    write_labels(root / "labels", PICTURES, "{}, {}, {}, {}, {}", names=True)


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
