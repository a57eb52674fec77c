"""Pictures: boxes drawn on images, sheets of images, and plots of a training or an evaluation."""

import math
from pathlib import Path

import matplotlib
import numpy as np
from data.images import to_corners
from matplotlib.figure import Figure
from PIL import Image, ImageDraw, ImageFont

CLASS_COLORS = {"person": (40, 190, 70), "cell phone": (255, 140, 0)}
OTHER_COLORS = ((0, 120, 255), (230, 50, 60), (160, 80, 220), (0, 180, 190), (240, 90, 170))
NAMED_CLASSES = 12  # more curves than this stay unnamed
NUMBERED_CELLS = 21  # a larger confusion matrix has colours alone


# ------------------------------------------------------------------------------ images


def draw_detections(image, detections, class_names):
    """Draw boxes with class names and scores.

    Parameters
    ----------
    image : uint8 array, (height, width, 3)
        RGB.
    detections : array, (n, 5) or (n, 6)
        ``x1, y1, x2, y2, score, class`` in the image's pixels; with five columns
        ``x1, y1, x2, y2, class``, as for ground truth, which has no score.
    class_names : sequence of str

    Returns
    -------
    uint8 array, (height, width, 3)
        A copy; persons green, cell phones orange.
    """
    picture = Image.fromarray(image)
    draw = ImageDraw.Draw(picture)
    short = min(picture.size)
    line = max(1, round(short / 160))
    font = ImageFont.load_default(size=max(10, round(short / 24)))
    for *box, label in np.asarray(detections)[::-1]:  # the best last, on top of the others
        name = class_names[int(label)]
        color = CLASS_COLORS.get(name, OTHER_COLORS[int(label) % len(OTHER_COLORS)])
        x1, y1, x2, y2 = map(float, box[:4])
        draw.rectangle([x1, y1, max(x1, x2 - 1), max(y1, y2 - 1)], outline=color, width=line)
        text = " ".join([name, *(f"{score:.2f}" for score in box[4:])])
        left, top, right, bottom = font.getbbox(text)
        width, height = right - left + 4, bottom - top + 4
        x = min(max(x1, 0), max(picture.width - width, 0))
        y = y1 - height if y1 >= height else min(max(y1, 0), max(picture.height - height, 0))
        draw.rectangle([x, y, x + width, y + height], fill=color)
        ink = (0, 0, 0) if sum(color) > 300 else (255, 255, 255)
        draw.text((x + 2 - left, y + 2 - top), text, fill=ink, font=font)
    return np.asarray(picture)


def image_mosaic(images, columns, gap=4):
    """Put pictures side by side on a white sheet.

    Parameters
    ----------
    images : sequence of uint8 arrays, (height, width, 3)
        At least one. Sizes may differ; each is centred in a cell of the largest height and width.
    columns : int
    gap : int
        Pixels between cells.

    Returns
    -------
    uint8 array, (height, width, 3)
    """
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


def save_png(path, image):
    """Write a uint8 (height, width, 3) RGB array as PNG; parent folders are made."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path, format="PNG")


def draw_validation(path, dataset, detections, indices=None, confidence=0.25):
    """Draw images of a data set: ground truth on the left, detections on the right.

    Parameters
    ----------
    path : path-like
    dataset : Dataset
    detections : dict of int to array (n, 6), in pixels of the original picture
    indices : sequence of int, optional
        Of the images; six spread evenly over the set by default.
    confidence : float
        Detections below aren't drawn.
    """
    if indices is None:
        indices = np.unique(np.linspace(0, len(dataset) - 1, 6).astype(int))
    pictures = []
    for index in indices:
        image, sample = dataset.picture(index), dataset[index]
        corners = sample.geometry.undo(to_corners(sample.boxes, dataset.image_size))
        found = detections[sample.image_id]
        for rows in (np.column_stack([corners, sample.classes]), found[found[:, 4] >= confidence]):
            pictures.append(draw_detections(image, rows, dataset.classes))
    save_png(path, image_mosaic(pictures, columns=2 if len(indices) < 5 else 4))


# ------------------------------------------------------------------------------ plots


def draw_curves(path, rows):
    """Plot losses, precision and learning rate over the epochs.

    Parameters
    ----------
    path : path-like
    rows : list of dict
        One per epoch, as in results.csv; None where there was no validation.
    """
    epochs = [row["epoch"] for row in rows]
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


@matplotlib.rc_context({"text.parse_math": False})  # a class may be called "$_"
def draw_precision_recall(path, metrics):
    """Plot precision against recall, and both against the confidence, at IoU 0.5.

    Parameters
    ----------
    path : path-like
    metrics : DetectionMetrics
        Classes without ground truth are left out.
    """
    names, curves = metrics.dataset.classes, metrics.curves
    figure = Figure(figsize=(14, 4.2), layout="constrained")
    plots = {
        "precision by recall": curves.precision_at_recall,
        "precision by confidence": curves.precision,
        "recall by confidence": curves.recall,
    }
    for axis, (title, values) in zip(figure.subplots(1, 3), plots.items(), strict=True):
        known = np.flatnonzero(~np.isnan(values).all(axis=1))
        x = np.linspace(0, 1, values.shape[1])
        for k in known:
            many = {"color": "grey", "alpha": 0.4}
            style = many if len(known) > NAMED_CLASSES else {"label": names[k]}
            axis.plot(x, values[k], linewidth=1, **style)
        axis.plot(x, values[known].mean(axis=0), color="black", linewidth=2, label="mean")
        axis.set(title=title, xlabel=title.split()[-1], xlim=(0, 1), ylim=(0, 1.02))
        axis.grid(alpha=0.3)
        axis.legend()
    figure.savefig(path, dpi=110)


@matplotlib.rc_context({"text.parse_math": False})
def draw_confusion_matrix(path, counts, class_names):
    """Draw a confusion matrix: numbers are objects, colours are shares of the true class.

    Parameters
    ----------
    path : path-like
    counts : int array, (num_classes + 1, num_classes + 1)
        Row: predicted class; column: true class; the background is last.
    class_names : sequence of str
    """
    names = [*class_names, "background"]
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    side = min(max(3.5 + 0.35 * len(names), 4.4), 16)
    figure = Figure(figsize=(side, side), layout="constrained")
    axis = figure.subplots()
    figure.colorbar(axis.imshow(shares, cmap="Blues", vmin=0, vmax=1), ax=axis, shrink=0.75)
    axis.set_xticks(range(len(names)), names, rotation=90)
    axis.set_yticks(range(len(names)), names)
    axis.set(xlabel="true class", ylabel="predicted class")
    if len(names) <= NUMBERED_CELLS:
        for (i, j), share in np.ndenumerate(shares):
            ink = "white" if share > 0.5 else "black"
            axis.text(j, i, str(counts[i, j]), ha="center", va="center", color=ink)
    figure.savefig(path, dpi=110)
