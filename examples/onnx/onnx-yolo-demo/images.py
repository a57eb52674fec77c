"""Reading pictures, fitting them into squares, and boxes in either.

NumPy and Pillow only.
"""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageOps

FILL = 114  # grey of the padding, the value the published YOLO weights were trained with


@dataclass(frozen=True)
class Letterbox:
    """Where a picture lies in its letterboxed square.

    Attributes
    ----------
    size : int
        Side of the square in pixels.
    width, height : int
        Size of the original picture.
    ratio : float
        Nominal scale, before the sides were rounded to whole pixels.
    resized_width, resized_height : int
        Size of the picture inside the square.
    left, top : int
        Padding before the picture; the rest of the padding follows it.
    """

    size: int
    width: int
    height: int
    ratio: float
    resized_width: int
    resized_height: int
    left: int
    top: int

    @classmethod
    def fit(cls, width, height, size, scale_up=True):
        """Geometry of a `width` x `height` picture in a square of side `size`."""
        if min(width, height, size) < 1:
            raise ValueError(f"cannot letterbox {width}x{height} to {size}: sides must be positive")
        ratio = min(size / height, size / width)
        if not scale_up:
            ratio = min(ratio, 1.0)
        # round() takes halves to the even number, as the geometry of the reference does.
        resized_width = max(round(width * ratio), 1)
        resized_height = max(round(height * ratio), 1)
        # The 0.1 puts the odd pixel of padding at the right and the bottom.
        left = round((size - resized_width) / 2 - 0.1)
        top = round((size - resized_height) / 2 - 0.1)
        return cls(size, width, height, ratio, resized_width, resized_height, left, top)

    @property
    def scale_xy(self):
        """Actual scale of either axis, ``(float, float)``; differs a little from `ratio`."""
        return self.resized_width / self.width, self.resized_height / self.height

    def apply(self, boxes):
        """Move ``x1, y1, x2, y2`` boxes (n, 4) from the picture to the square."""
        return np.asarray(boxes) * self._scale4 + self._shift4

    def undo(self, boxes):
        """Move ``x1, y1, x2, y2`` boxes (n, 4) from the square to the picture, clipped to it."""
        moved = (np.asarray(boxes) - self._shift4) / self._scale4
        moved[..., 0::2] = moved[..., 0::2].clip(0, self.width)
        moved[..., 1::2] = moved[..., 1::2].clip(0, self.height)
        return moved

    @property
    def _scale4(self):
        return np.array(self.scale_xy * 2)

    @property
    def _shift4(self):
        return np.array([self.left, self.top, self.left, self.top], dtype=np.float64)


def letterbox(image, size, scale_up=True):
    """Fit a picture into a square without changing its proportions; pad with grey 114.

    Parameters
    ----------
    image : uint8 array, (height, width, 3)
    size : int
        Side of the square in pixels.
    scale_up : bool
        False leaves pictures smaller than the square at their size.

    Returns
    -------
    canvas : uint8 array, (size, size, 3)
    geometry : Letterbox
        Its `undo` moves boxes back to the picture.

    Raises
    ------
    ValueError
        `image` is not uint8 (height, width, 3).
    """
    image = np.asarray(image)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(
            f"image has dtype {image.dtype} and shape {image.shape}; pass uint8 (height, width, 3)"
        )
    geometry = Letterbox.fit(image.shape[1], image.shape[0], size, scale_up)
    target = (geometry.resized_width, geometry.resized_height)
    if target != (geometry.width, geometry.height):
        image = np.asarray(Image.fromarray(image).resize(target, Image.Resampling.BILINEAR))
    canvas = np.full((size, size, 3), FILL, dtype=np.uint8)
    top, left = geometry.top, geometry.left
    canvas[top : top + target[1], left : left + target[0]] = image
    return canvas, geometry


def read_image(path):
    """Decode a picture as RGB, upright.

    Parameters
    ----------
    path : path-like
        JPEG, PNG or anything else Pillow reads: grey, CMYK and palette pictures become RGB,
        and the camera's orientation (EXIF) is applied.

    Returns
    -------
    uint8 array, (height, width, 3)

    Raises
    ------
    OSError, SyntaxError
        Missing, truncated or not a picture (Pillow reports broken PNG as SyntaxError).
    ValueError
        More than 8 bits a channel.
    """
    with Image.open(path) as picture:
        if picture.mode[0] in "IF":
            raise ValueError(f"{picture.mode} pixels; convert the picture to 8 bits a channel")
        return np.asarray(ImageOps.exif_transpose(picture).convert("RGB"))


def to_fractions(corners, size):
    """``x1, y1, x2, y2`` pixels (n, 4) to float32 ``cx, cy, w, h`` fractions of `size`."""
    corners = np.asarray(corners, dtype=np.float64).reshape(-1, 4)
    center = (corners[:, :2] + corners[:, 2:]) / 2
    return (np.concatenate([center, corners[:, 2:] - corners[:, :2]], axis=1) / size).astype(
        np.float32
    )


def to_corners(boxes, size):
    """``cx, cy, w, h`` fractions (n, 4) to float64 ``x1, y1, x2, y2`` pixels of `size`."""
    boxes = np.asarray(boxes, dtype=np.float64).reshape(-1, 4) * size
    half = boxes[:, 2:] / 2
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1)
