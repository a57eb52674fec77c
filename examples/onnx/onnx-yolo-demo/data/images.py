"""Reading pictures, fitting them into squares, and boxes in either."""

import struct
import warnings
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

HEIF = {".heic", ".heif"}  # what telephones write; Pillow can't read it without pillow-heif
with suppress(ImportError):
    import pillow_heif

    pillow_heif.register_heif_opener()

FILL = 114  # grey of the padding, the value the published YOLO weights were trained with

_ORIENTATION = 0x0112  # EXIF tag
# Where nothing tells whether the boxes are for the stored pixels or the upright picture
TURNED = "turned upright by its EXIF orientation"
# The note for a picture of 16 bits a channel, by how many of them its data set uses
DEPTHS = {16: "16 bits a channel cut to 8"} | {
    bits: f"{bits} bits a channel, in a file of 16, cut to 8" for bits in (14, 12, 10)
}

# What Pillow's decoders raise for broken files. PNG's raises SyntaxError; most others come from
# parsing what a file says of itself.
_DECODER_ERRORS = (
    *(OSError, SyntaxError, ValueError, EOFError, LookupError, OverflowError, MemoryError),
    *(TypeError, struct.error, zlib.error, Image.DecompressionBombError),
)


class PictureError(OSError):
    """A file that cannot be used as a picture; the message says why, without the path."""


@dataclass(frozen=True)
class Letterbox:
    """Where a picture lies in its letterboxed square; all lengths in pixels."""

    size: int  # side of the square
    width: int  # of the original picture
    height: int
    ratio: float  # nominal scale, before the sides were rounded to whole pixels
    resized_width: int  # of the picture inside the square
    resized_height: int
    left: int  # padding before the picture; the rest of the padding follows it
    top: int

    @classmethod
    def fit(cls, width, height, size):
        """Fit a `width` x `height` picture into a square of side `size`."""
        if min(width, height, size) < 1:
            raise ValueError(f"cannot letterbox {width}x{height} to {size}: sides must be positive")
        ratio = min(size / height, size / width)
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


def letterbox(image, size, antialias=True):
    """Fit a picture into a square without changing its proportions; pad with grey 114.

    Parameters
    ----------
    image : uint8 array, (height, width, 3)
    size : int
        Side of the square in pixels.
    antialias : bool
        Whether a picture that shrinks is averaged over all its pixels (Pillow's BILINEAR), as
        everywhere except in training. Otherwise only the four neighbours of a point count (plain
        bilinear interpolation), which leaves edges sharper, with steps in them.

    Returns
    -------
    canvas : uint8 array, (size, size, 3)
    geometry : Letterbox
    """
    image = np.asarray(image)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(
            f"image has dtype {image.dtype} and shape {image.shape}; pass uint8 (height, width, 3)"
        )
    geometry = Letterbox.fit(image.shape[1], image.shape[0], size)
    target = (geometry.resized_width, geometry.resized_height)
    if target != (geometry.width, geometry.height):
        image = np.asarray(_resized(Image.fromarray(image), target, antialias))
    canvas = np.full((size, size, 3), FILL, dtype=np.uint8)
    top, left = geometry.top, geometry.left
    canvas[top : top + target[1], left : left + target[0]] = image
    return canvas, geometry


def _resized(picture, target, antialias):
    if antialias:
        return picture.resize(target, Image.Resampling.BILINEAR)
    steps = [old / new for old, new in zip(picture.size, target, strict=True)]
    warp = (steps[0], 0.0, 0.0, 0.0, steps[1], 0.0)
    return picture.transform(target, Image.Transform.AFFINE, warp, Image.Resampling.BILINEAR)


@contextmanager
def quiet():
    """Silence Pillow's warnings, also in threads that are started inside.

    They tell of damaged metadata, and of pictures with more than half of the largest number of
    pixels: if the pixels can be decoded, they can be used.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _stored_bits(picture):
    """Return how many bits a channel has in the file of an opened picture: 8, 12 or 16."""
    # The raw mode of the data, such as RGB;16B: Pillow decodes colours to 8 bits by itself.
    raw = " ".join(str(tile.args) for tile in picture.tile)
    if "I;12" in raw:
        return 12
    # Older versions of Pillow open grey PNG of 16 bits as "I".
    return 16 if ";16" in raw or (picture.mode == "I" and picture.format == "PNG") else 8


def _to_rgb(picture, stored, bits):
    """Return (RGB picture, list of what was changed); see `decode`."""
    notes = []
    if stored > 8:
        notes = [DEPTHS[bits] if stored == 16 else f"{stored} bits a channel cut to 8"]
    if stored > 8 and picture.mode[0] == "I":
        upper = np.asarray(picture) >> (min(bits, stored) - 8)
        picture = Image.fromarray(upper.clip(0, 255).astype(np.uint8))
    elif stored == 16 and bits < 16:  # Pillow has cut them to the upper 8 of 16
        raise PictureError(
            f"{bits} bits a channel in a file of 16 (mode {picture.mode}); convert it to 8 bits a "
            "channel"
        )
    elif picture.mode in ("I", "F"):
        raise PictureError(f"32 bits a pixel (mode {picture.mode}); convert it to 8 bits a channel")
    if not picture.has_transparency_data:
        return picture.convert("RGB"), notes
    picture = picture.convert("RGBA")
    if picture.getchannel("A").getextrema()[0] == 255:
        return picture.convert("RGB"), notes
    notes.append(f"transparent parts made grey {FILL}")
    ground = Image.new("RGBA", picture.size, (FILL, FILL, FILL, 255))
    return Image.alpha_composite(ground, picture).convert("RGB"), notes


def decode(path, size=None, bits=16):
    """Decode a picture as RGB, and say what had to be changed for it.

    Grey, palette, CMYK and other 8-bit pictures become RGB. Of 16 bits a channel the upper 8 of the
    lower `bits` are kept: many cameras write 12 bits into a file of 16 (see `used_bits`). The
    padding's grey shows through what is transparent: the colours that files hide there are not part
    of the picture. Of an animation the first frame is used.

    Pictures are turned upright by the camera's orientation (EXIF), with one exception: if `size`
    is that of the stored pixels and not that of the upright picture, whoever wrote it ignored the
    orientation, and so does this function, since the boxes then belong to the stored pixels.
    Where the size tells nothing, a note says that the picture was turned.

    JPEG is decoded at full size always: its fast reduced decoding gives other pixels.

    `size` is the (width, height) that the annotations give. FileNotFoundError and PictureError
    say what is wrong with the file.

    Returns
    -------
    image : uint8 array, (height, width, 3)
    notes : list of str
        What was changed, in words; empty for a plain picture.
    """
    try:
        with Image.open(path) as picture:
            return _decoded(picture, size, bits)
    except (FileNotFoundError, PictureError):
        raise
    except _DECODER_ERRORS as error:
        if Path(path).suffix.lower() in HEIF and HEIF.isdisjoint(Image.registered_extensions()):
            raise PictureError(
                "HEIF pictures need pillow-heif: 'pip install pillow-heif', or save them as JPEG"
            ) from error
        raise PictureError(f"not readable: {error or type(error).__name__}") from error


def _decoded(picture, size, bits):
    notes = []
    stored = _stored_bits(picture)  # first: Pillow forgets when it decodes
    orientation = picture.getexif().get(_ORIENTATION, 1)
    # Pillow turns TIFF by itself, and gives the upright size as well.
    across = picture.format != "TIFF" and orientation in range(5, 9)
    upright = picture.size[::-1] if across else picture.size
    if size is not None and tuple(size) not in (picture.size, upright):
        raise PictureError(
            f"is {upright[0]}x{upright[1]}, but the annotation file says {size[0]}x{size[1]}"
        )
    if getattr(picture, "is_animated", False) and picture.format != "MPO":
        notes.append("first of several frames used")  # MPO: a photograph and its preview
    if size is None or tuple(size) == upright:
        size_tells = size is not None and orientation in range(5, 9) and upright[0] != upright[1]
        if orientation in range(2, 9) and not size_tells:
            notes.append(TURNED)
        picture = ImageOps.exif_transpose(picture)
    else:
        notes.append("EXIF orientation ignored, as in the annotation file's size")
    image, changes = _to_rgb(picture, stored, bits)
    return np.asarray(image), notes + changes


def highest_value(path):
    """Return the highest value of a readable picture of 16 bits a channel, up to 65,535."""
    with Image.open(path) as picture:
        values = np.asarray(picture)
    return int(values.max()) * (256 if values.dtype == np.uint8 else 1)


def used_bits(highest):
    """Return how many of 16 bits pictures with this highest value use: 10, 12, 14 or 16.

    It must be the highest value in a whole data set: one picture alone may be dark.
    """
    return next(bits for bits in sorted(DEPTHS) if highest < 2**bits)


def depth_of(notes):
    """Return the `bits` with which `decode` made these notes; 16 if they don't tell."""
    return next((bits for bits, note in DEPTHS.items() if note in notes), 16)


def read_image(path, size=None, bits=16):
    """Decode a picture as RGB, uint8 (height, width, 3); see `decode` for the rules."""
    with quiet():
        return decode(path, size, bits)[0]


def to_fractions(corners, size):
    """Convert ``x1, y1, x2, y2`` pixels (n, 4) to float32 ``cx, cy, w, h`` fractions of `size`."""
    corners = np.asarray(corners, dtype=np.float64).reshape(-1, 4)
    center = (corners[:, :2] + corners[:, 2:]) / 2
    return (np.concatenate([center, corners[:, 2:] - corners[:, :2]], axis=1) / size).astype(
        np.float32
    )


def to_corners(boxes, size):
    """Convert ``cx, cy, w, h`` fractions (n, 4) to float64 ``x1, y1, x2, y2`` pixels of `size`."""
    boxes = np.asarray(boxes, dtype=np.float64).reshape(-1, 4) * size
    half = boxes[:, 2:] / 2
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1)
