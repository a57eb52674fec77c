"""Pictures: boxes drawn on images, and the curves of a training."""

import math
from pathlib import Path

import numpy as np
from data.images import to_corners
from PIL import Image, ImageDraw, ImageFont

CLASS_COLORS = {"person": (40, 190, 70), "cell phone": (255, 140, 0)}
OTHER_COLORS = ((0, 120, 255), (230, 50, 60), (160, 80, 220), (0, 180, 190), (240, 90, 170))


def draw_detections(image, detections, class_names, names=None):
    """Return a copy of an RGB image, uint8 (height, width, 3), with boxes, names and scores.

    Detections are (n, 6), ``x1, y1, x2, y2, score, class`` in the image's pixels, or (n, 5)
    without the score, as of ground truth. The class gives the colour, and the name unless `names`
    has one for each box.
    """
    picture = Image.fromarray(image)
    draw = ImageDraw.Draw(picture)
    short = min(picture.size)
    line, size = max(1, round(short / 160)), max(10, round(short / 24))
    font = ImageFont.load_default(size=size)
    rows = list(enumerate(np.asarray(detections)))
    for k, (*box, label) in rows[::-1]:  # the best last, on top of the others
        name = class_names[int(label)]
        color = CLASS_COLORS.get(name, OTHER_COLORS[int(label) % len(OTHER_COLORS)])
        name = name if names is None else names[k]
        x1, y1, x2, y2 = map(float, box[:4])
        draw.rectangle([x1, y1, max(x1, x2 - 1), max(y1, y2 - 1)], outline=color, width=line)
        text = " ".join([name, *(f"{score:.2f}" for score in box[4:])])
        x = max(min(x1, picture.width - draw.textlength(text, font=font)), 0)
        corner = x, max(y1 - size, 0)
        draw.rectangle(draw.textbbox(corner, text, font=font), fill=color)
        ink = (0, 0, 0) if sum(color) > 300 else (255, 255, 255)
        draw.text(corner, text, fill=ink, font=font)
    return np.asarray(picture)


def with_caption(image, text):
    """Return an RGB picture, uint8 (height, width, 3), with a text below, cut at its start."""
    size = max(10, round(min(image.shape[:2]) / 24))
    font = ImageFont.load_default(size=size)
    while len(text) > 1 and font.getlength(text) > image.shape[1]:
        text = text[1:]
    sheet = Image.new("RGB", (image.shape[1], image.shape[0] + size + 4), "white")
    sheet.paste(Image.fromarray(image))
    ImageDraw.Draw(sheet).text((0, image.shape[0]), text, fill="black", font=font)
    return np.asarray(sheet)


def image_mosaic(images, columns, gap=4):
    """Put RGB pictures side by side on a white sheet, each in a cell of the largest sides."""
    height = max(image.shape[0] for image in images)
    width = max(image.shape[1] for image in images)
    columns = min(columns, len(images))
    rows = math.ceil(len(images) / columns)
    size = (rows * (height + gap) - gap, columns * (width + gap) - gap, 3)
    sheet = np.full(size, 255, dtype=np.uint8)
    for k, image in enumerate(images):
        y = k // columns * (height + gap) + (height - image.shape[0]) // 2
        x = k % columns * (width + gap) + (width - image.shape[1]) // 2
        sheet[y : y + image.shape[0], x : x + image.shape[1]] = image
    return sheet


def draw_labels(path, dataset, count=12):
    """Draw images of a data set with their labels, as training sees both.

    Each class has a share of them, the rarest first; the others are spread over the set.
    The name of its file is below each.
    """
    shown = [{*sample.classes.tolist()} for sample in dataset]
    with_class = [
        [place for place, own in enumerate(shown) if kind in own]
        for kind in range(len(dataset.classes))
    ]
    chosen = set()
    for places in [*sorted(with_class, key=len), range(len(dataset))]:
        share = max(count // (len(with_class) + 1), 1) if isinstance(places, list) else count
        places = [place for place in places if place not in chosen]
        share = min(share, count - len(chosen), len(places))
        chosen |= {places[k] for k in np.linspace(0, len(places) - 1, share).astype(int)}
    pictures = []
    for place in sorted(chosen):
        sample = dataset[place]
        corners = to_corners(sample.boxes, dataset.image_size)
        rows = np.column_stack([corners, sample.classes])
        picture = draw_detections(sample.image, rows, dataset.classes)
        pictures.append(with_caption(picture, Path(dataset.file_name(place)).name))
    Image.fromarray(image_mosaic(pictures, columns=4)).save(path)


def draw_validation(path, dataset, detections, confidence=0.25):
    """Draw six images, spread evenly over a data set: ground truth left, detections right."""
    indices = np.unique(np.linspace(0, len(dataset) - 1, 6).astype(int))
    pictures = []
    for index in indices:
        image, sample = dataset.picture(index), dataset[index]
        corners = sample.geometry.undo(to_corners(sample.boxes, dataset.image_size))
        found = detections[sample.image_id]
        for rows in (np.column_stack([corners, sample.classes]), found[found[:, 4] >= confidence]):
            pictures.append(draw_detections(image, rows, dataset.classes))
    sheet = image_mosaic(pictures, columns=2 if len(indices) < 5 else 4)
    Image.fromarray(sheet).save(path)


def draw_curves(path, rows):
    """Plot losses, precision and learning rate of the rows of results.csv, one per epoch."""
    epochs = [row["epoch"] for row in rows]
    from matplotlib.figure import Figure  # half a second

    figure = Figure(figsize=(13, 3.6), layout="constrained")
    axes = figure.subplots(1, 3)
    for name in ("box_loss", "cls_loss", "dfl_loss"):
        axes[0].plot(epochs, [row[name] for row in rows], label=name)
    axes[0].set_title("training loss")
    validated = [row for row in rows if row["map50"] is not None]
    for name, label in [("map50", "mAP@0.5"), ("map50_95", "mAP@0.5:0.95")]:
        x, y = [row["epoch"] for row in validated], [row[name] for row in validated]
        axes[1].plot(x, y, "o-", label=label)
    axes[1].set(title="validation", ylim=(0, 1))
    axes[2].plot(epochs, [row["lr"] for row in rows], label="learning rate")
    axes[2].set_title("learning rate")
    for axis in axes:
        axis.set_xlabel("epoch")
        axis.grid(alpha=0.3)
        axis.legend()
    figure.savefig(path, dpi=110)
