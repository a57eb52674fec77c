"""The forms of detectors' outputs: what a network takes, and how its output becomes predictions.

Predictions are float32 (batch, 4 + classes, anchors): centre x, centre y, width and height in
pixels of the input's square, then a score for each class.
"""

import numpy as np

STRIDES = (8, 16, 32)  # pixels of the square for each cell of the three grids

# The names of COCO's 80 classes, in the order of the rows of heads trained on them.
COCO_CLASSES = (
    "person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat",
    "traffic light", "fire hydrant", "stop sign", "parking meter", "bench", "bird", "cat", "dog",
    "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe", "backpack", "umbrella",
    "handbag", "tie", "suitcase", "frisbee", "skis", "snowboard", "sports ball", "kite",
    "baseball bat", "baseball glove", "skateboard", "surfboard", "tennis racket", "bottle",
    "wine glass", "cup", "fork", "knife", "spoon", "bowl", "banana", "apple", "sandwich", "orange",
    "broccoli", "carrot", "hot dog", "pizza", "donut", "cake", "chair", "couch", "potted plant",
    "bed", "dining table", "toilet", "tv", "laptop", "mouse", "remote", "keyboard", "cell phone",
    "microwave", "oven", "toaster", "sink", "refrigerator", "book", "clock", "vase", "scissors",
    "teddy bear", "hair drier", "toothbrush",
)  # fmt: skip


class _Form:
    @classmethod
    def fits(cls, shape, classes, size):
        """Return whether an output's shape is of this form, for images of a side in pixels."""
        wanted = cls.shape(classes, size)
        return len(shape) == len(wanted) and all(
            isinstance(number, str) or number == own
            for number, own in zip(wanted, shape, strict=True)
        )


class Yolo11(_Form):
    """YOLOv8's and YOLO11's, also that of export.py: predictions of RGB from 0 to 1, centred."""

    name = "yolo11"
    upper_left = False  # whether the picture is in the upper left corner of the square

    @staticmethod
    def shape(classes, size):
        """Return the shape of the output; a text stands for any number."""
        return "batch", 4 + classes, "anchors"

    @staticmethod
    def inputs(images):
        """Return what the network takes, of uint8 (batch, 3, size, size) in RGB."""
        return images.astype(np.float32) / np.float32(255)

    @staticmethod
    def predictions(output, size):
        """Return predictions of the network's output; see the module."""
        return output


class Yolox(_Form):
    """YOLOX's: cells of three grids, not decoded, of BGR from 0 to 255 in the upper left corner.

    A cell has its box's centre, in cells from its own upper left corner, the logarithms of width
    and height in cells, and scores from 0 to 1: that there is an object, then of each class.
    """

    name = "yolox"
    upper_left = True

    @staticmethod
    def shape(classes, size):
        """Return the shape of the output; a text stands for any number."""
        return "batch", sum((size // stride) ** 2 for stride in STRIDES), 5 + classes

    @staticmethod
    def inputs(images):
        """Return what the network takes, of uint8 (batch, 3, size, size) in RGB."""
        return images[:, ::-1].astype(np.float32)

    @staticmethod
    def predictions(output, size):
        """Return predictions of the network's output; see the module."""
        counts = [size // stride for stride in STRIDES]
        corners = [np.indices((n, n))[::-1].reshape(2, -1) for n in counts]  # x, y, row by row
        corners = np.concatenate(corners, axis=1, dtype=np.float32)
        stride = np.repeat(np.float32(STRIDES), np.square(counts))
        rows = output.transpose(0, 2, 1)
        centres = (rows[:, :2] + corners) * stride
        sides = np.exp(rows[:, 2:4]) * stride
        return np.concatenate([centres, sides, rows[:, 4:5] * rows[:, 5:]], axis=1)


FORMS = {form.name: form for form in (Yolo11, Yolox)}
