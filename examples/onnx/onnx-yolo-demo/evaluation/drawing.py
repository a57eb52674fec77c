"""Boxes on pictures, and pictures on sheets.

NumPy and Pillow only.
"""

import math
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

CLASS_COLORS = {"person": (40, 190, 70), "cell phone": (255, 140, 0)}
OTHER_COLORS = (
    (0, 120, 255),
    (230, 50, 60),
    (160, 80, 220),
    (0, 180, 190),
    (240, 90, 170),
    (130, 130, 40),
)


def _as_image(image):
    image = np.asarray(image)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(
            f"image has dtype {image.dtype} and shape {image.shape}; pass uint8 (height, width, 3)"
        )
    return image


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
    picture = Image.fromarray(_as_image(image))
    draw = ImageDraw.Draw(picture)
    short = min(picture.size)
    line = max(1, round(short / 160))
    font = ImageFont.load_default(size=max(10, round(short / 24)))
    detections = np.asarray(detections, dtype=np.float64)
    if detections.size == 0:
        return np.asarray(picture)
    # Best last, so that its label is not covered.
    for row in detections[::-1]:
        label = int(row[-1])
        name = class_names[label]
        color = CLASS_COLORS.get(name, OTHER_COLORS[label % len(OTHER_COLORS)])
        text = name if len(row) == 5 else f"{name} {row[4]:.2f}"
        x1, y1, x2, y2 = (float(v) for v in row[:4])
        draw.rectangle([x1, y1, max(x1, x2 - 1), max(y1, y2 - 1)], outline=color, width=line)
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
        Sizes may differ; each is centred in a cell of the largest height and width.
    columns : int
    gap : int
        Pixels between cells.

    Returns
    -------
    uint8 array, (height, width, 3)
    """
    images = [_as_image(image) for image in images]
    if not images or columns < 1:
        raise ValueError(f"cannot lay out {len(images)} images in {columns} columns")
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
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(_as_image(image)).save(path, format="PNG")
