"""Small ONNX detectors of each form, which find one box, with the colour of a pixel as scores."""

import numpy as np
import onnx
from evaluation.forms import STRIDES
from onnx import helper

from tests.examples.yolo11n.small_models import make_model

CELL = 5  # the place of the box: of the first grid at 32 px, the cell in column 1 of row 1


def write_detector(path, form, names=("a", "b", "c"), size=32, box=(12, 10, 12, 8), row=0):
    """Write a detector of three classes, which scores the pixel in a row's column 0.

    The box is centre x, centre y, width and height in pixels of the network's square; the pixel,
    too, is one of the square. The scores of the classes are those of the channels.
    """
    cells = sum((size // stride) ** 2 for stride in STRIDES)
    constants = {"starts": [0, 0, row, 0], "ends": [1, 3, row + 1, 1]}
    if form == "yolo11":
        constants |= {"shape": [1, 3, 1], "one": np.float32(1)}
        constants["box"] = np.reshape(np.float32(box), (1, 4, 1))
        before, after, across, along = (1, 7, CELL), (1, 7, cells - CELL - 1), 1, 2
        shape = [1, 7, cells]
    else:
        assert form == "yolox"
        corner = np.array([CELL % (size // 8), CELL // (size // 8)])
        offsets, logarithms = np.array(box[:2]) / 8 - corner, np.log(np.array(box[2:]) / 8)
        constants |= {"shape": [1, 1, 3], "one": np.float32(255)}
        constants["box"] = np.float32([[[*offsets, *logarithms, 1]]])  # and surely an object
        before, after, across, along = (1, CELL, 8), (1, cells - CELL - 1, 8), 2, 1
        shape = [1, cells, 8]
    constants |= {"before": np.zeros(before, np.float32), "after": np.zeros(after, np.float32)}
    nodes = [
        helper.make_node("Slice", ["x", "starts", "ends"], ["pixel"]),
        helper.make_node("Reshape", ["pixel", "shape"], ["flat"]),
        helper.make_node("Div", ["flat", "one"], ["scores"]),
        helper.make_node("Concat", ["box", "scores"], ["found"], axis=across),
        helper.make_node("Concat", ["before", "found", "after"], ["y"], axis=along),
    ]
    return save(path, nodes, constants, size, shape, names)


def write_zeros(path, shape, size=32, names=None, said=None):
    """Write a model that takes a picture and gives zeros; `said` is the shape that it states."""
    constants = {"zero": np.float32(0), "shape": shape, "first": [0, 0, 0, 0], "last": [1, 1, 1, 1]}
    nodes = [
        helper.make_node("Slice", ["x", "first", "last"], ["pixel"]),
        helper.make_node("Mul", ["pixel", "zero"], ["nothing"]),
        helper.make_node("Reshape", ["nothing", "unit"], ["one"]),
        helper.make_node("Expand", ["one", "shape"], ["y"]),
    ]
    constants["unit"] = [1] * len(shape)
    return save(path, nodes, constants, size, said or shape, names)


def save(path, nodes, constants, size, shape, names):
    """Save a model with `names` of its classes, unless they are None."""
    names = names and repr(dict(enumerate(names)))
    model = make_model(nodes, constants, {"x": [1, 3, size, size]}, {"y": shape}, names=names)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path
