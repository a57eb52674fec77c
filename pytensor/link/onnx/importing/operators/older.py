"""Operators as older opsets define them: attributes that are inputs now, and other meanings."""

from typing import Literal

import numpy as np
import onnx_ir as ir

import pytensor.tensor as pt
from pytensor.link.onnx.importing.operators import (
    activations,
    algebra,
    indexing,
    normalization,
    reductions,
    resampling,
    shapes,
)
from pytensor.link.onnx.importing.registry import Refused, attributes_of, operator_funcify
from pytensor.link.onnx.importing.sizes import (
    folded,
    known_axis,
    like,
    must_be_known,
    normalized,
    product,
    sizes,
)
from pytensor.tensor.basic import as_tensor_variable, constant, expand_dims
from pytensor.tensor.batching import shapes_differ

MOST = float(np.finfo("float32").max)
REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")


def _newest(node, *inputs, **attributes):
    """Return the results by the newest definition, with these attributes."""
    return operator_funcify.dispatch(node.op_type).with_attributes(node, *inputs, **attributes)


def _integers(values):
    """Return an attribute as the input that it is now, None where it is left out."""
    return None if values is None else constant(np.array(values, "int64"))


# ------------------------------------------------------------------------- broadcasting


@operator_funcify.register(
    *("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"),
    before=7,
)
def binary(node, a, b, *, axis=None, broadcast=0):
    if broadcast:
        return _newest(node, a, _placed(a, b, axis))
    if shapes_differ(a.type.shape, b.type.shape):
        raise Refused(
            f"its inputs are of the shapes {a.type.shape} and {b.type.shape}, shapes that must be "
            f"equal before opset 7 unless it has the attribute broadcast=1"
        )
    return _newest(node, a, b)


def _has_one_element(x):
    return all(length == 1 for length in x.type.shape)


def _placed(a, b, axis):
    """Return the second input, with axes of length 1 at its end so that it broadcasts to `a`."""
    if _has_one_element(b):
        return b.reshape(())
    ndim, given = a.type.ndim, b.type.ndim
    # Caffe2 writes -1 where the last axes are meant
    axis = ndim - given if axis in (None, -1) else axis
    if not 0 <= axis <= ndim - given or shapes_differ(
        a.type.shape[axis : axis + given],
        [n if n != 1 else None for n in b.type.shape],
    ):
        raise Refused(
            f"its second input is of {b.type.shape}, a shape that isn't a part of the first one's, "
            f"{a.type.shape}, from the axis {axis} on"
        )
    return expand_dims(b, list(range(given, ndim - axis)))


@operator_funcify.register("Gemm", before=7)
@attributes_of(algebra.gemm)
def gemm(a, b, c, *, broadcast=0, **attributes):
    if c.type.ndim != 2 and not broadcast:
        raise Refused("its third input must be a matrix before opset 7, unless broadcast is 1")
    return algebra.gemm(a, b, c, **attributes)


@operator_funcify.register("PRelu", before=7)
def prelu(x, slope):
    if _has_one_element(slope):
        slope = slope.reshape(())
    elif slope.type.ndim == 1 and x.type.ndim > 2:
        slope = expand_dims(slope, list(range(1, x.type.ndim - 1)))  # of each channel
    return activations.prelu(x, slope)


# ------------------------------------------------------------------------- matrices of all axes


@operator_funcify.register("Hardmax", "LogSoftmax", "Softmax", before=13)
def along_rows(node, x, *, axis=1):
    """Compute over rows of a matrix: the axes before `axis` and from it on are flattened."""
    ndim = x.type.ndim
    axis = normalized(axis, ndim)
    longer = [a for a in range(axis, ndim) if x.type.shape[a] != 1] or [axis]
    if len(longer) == 1:
        return _newest(node, x, axis=longer[0])
    lengths = sizes(x)
    matrix = x.reshape((*lengths[:axis], product(lengths[axis:])), ndim=axis + 1)
    return as_tensor_variable(_newest(node, matrix, axis=axis)).reshape(lengths, ndim=ndim)


# ------------------------------------------------------------------------- training, or not


@operator_funcify.register("BatchNormalization", before=9)
def batch_normalization(
    node, x, scale, bias, mean, variance, *, epsilon=1e-5, is_test=1, momentum=0.9, spatial=1
):
    if not is_test:
        raise Refused("it trains (is_test is 0): export the model for inference")
    if spatial:
        return normalization.batch_normalization(
            node, x, scale, bias, mean, variance, epsilon=epsilon
        )
    if 1 in node.wanted_outputs:
        raise Refused("it trains, for it has more than one output: export it for inference")
    return pt.batch_normalization(
        x, scale, bias, mean, variance, epsilon=epsilon, axes="per-activation"
    )


@operator_funcify.register("Dropout", before=12)
def dropout(node, x, *, is_test=0, ratio=0.5):
    if node.opset < 7 and not is_test and ratio != 0:
        raise Refused(
            "it drops at random, for is_test is 0, as it is by default before opset 7: set it to 1"
        )
    if node.uses_output(1):
        raise Refused("its mask is read, which the standard doesn't define before opset 12")
    return x


@operator_funcify.register("ImageScaler")
def image_scaler(x, *, bias=(), scale=1.0):
    """Scale images and add a bias to each channel: an operator of before opset 10."""
    x = x * like(x, scale)
    return x + like(x, bias)[:, None, None] if len(bias) else x


# ------------------------------------------------------------------------- attributes


@operator_funcify.register("Cast", before=6)
def cast(node, x, *, to):
    if to not in ir.DataType.__members__:
        raise Refused(f"there is no element type {to!r}")
    return _newest(node, x, to=ir.DataType[to].value)


@operator_funcify.register("Clip", before=11)
def clip(node, x, *, max=MOST, min=-MOST):
    with np.errstate(over="ignore"):  # infinity in float16, which is no bound either
        return _newest(node, x, *(constant(np.asarray(v, x.type.dtype)) for v in (min, max)))


@operator_funcify.register("Concat", before=4)
def concat(*tensors, axis=1):
    return shapes.concat(*tensors, axis=axis)


@operator_funcify.register("OneHot", before=11)
def one_hot(indices, depth, values, *, axis=-1):
    """Give negative indices no place; since opset 11 they count from the end."""
    indices = pt.cast(indices, "int64")
    beyond = pt.cast(depth.reshape(()), "int64")
    indices = pt.switch(pt.lt(indices, np.int64(0)), beyond, indices)
    return algebra.one_hot(indices, depth, values, axis=axis)


@operator_funcify.register("Pad", before=2)
@attributes_of(indexing.pad)
def pad_of_pairs(node, x, *, paddings, value=0.0, **attributes):
    # The text has beginnings and ends apart, its example in pairs
    if paddings != np.reshape(paddings, (-1, 2)).T.ravel().tolist():
        raise Refused("the standard contradicts itself about paddings in opset 1")
    return pad(node, x, pads=paddings, value=value, **attributes)


@operator_funcify.register("Pad", before=11)
@attributes_of(indexing.pad)
def pad(node, x, *, pads, value=0.0, **attributes):
    value = constant(np.asarray(value, x.type.dtype))
    return indexing.pad(node, x, _integers(pads), value, **attributes)


@operator_funcify.register("ReduceSum", before=13)
@operator_funcify.register(*(f"Reduce{name}" for name in REDUCTIONS), before=18)
def reduction(node, x, *, axes=None, keepdims=1):
    return _newest(node, x, _integers(axes), keepdims=keepdims)


@operator_funcify.register("Reshape", before=5)
def reshape(node, x, *, shape):
    return shapes.reshape(node, x, _integers(shape))


@operator_funcify.register("Selu", before=6)
def selu(x, *, alpha=1.6732, gamma=1.0507):
    return activations.selu(x, alpha=alpha, gamma=gamma)


@operator_funcify.register("Slice", before=10)
def slice_(x, *, axes=None, ends, starts):
    return indexing.slice_(x, *map(_integers, (starts, ends, axes)))


@operator_funcify.register("Split", before=13)
def split(node, x, lengths=None, *, axis=0, split=None):
    return shapes.split(node, x, _integers(split) if lengths is None else lengths, axis=axis)


@operator_funcify.register("Squeeze", before=13)
def squeeze(node, x, *, axes=None):
    # No axes are all of length 1, as left out, for runtimes and the standard's own evaluator
    return shapes.squeeze(node, x, _integers(axes or None))


@operator_funcify.register("Tile", before=6)
def tile(node, x, tiles, axis):
    repeats = [constant(np.int64(1))] * x.type.ndim
    axis = known_axis(axis, x.type.ndim)
    repeats[axis] = pt.cast(tiles.reshape(()), "int64")
    return shapes.tile(node, x, folded([pt.stack(repeats)])[0])


@operator_funcify.register("TopK", before=10)
def top_k(node, x, *, axis=-1, k):
    return reductions.top_k(node, x, _integers([k]), axis=axis)


@operator_funcify.register("Unsqueeze", before=13)
def unsqueeze(x, *, axes):
    return shapes.unsqueeze(x, _integers(axes))


# ------------------------------------------------------------------------- resizing


ResizeMode = Literal["nearest", "linear"]


@operator_funcify.register("Upsample", before=7)
def upsample_images(
    node,
    x,
    *,
    height_scale,
    mode: Literal["nearest", "bilinear", "linear"] = "nearest",
    width_scale,
):
    return resize(node, x, [1.0, 1.0, height_scale, width_scale], mode=mode.removeprefix("bi"))


@operator_funcify.register("Upsample", before=9)
def upsample(node, x, *, mode: ResizeMode = "nearest", scales):
    return resize(node, x, scales, mode=mode)


@operator_funcify.register("Upsample", before=10)
@operator_funcify.register("Resize", before=11)
def resize(node, x, scales, *, mode: ResizeMode = "nearest"):
    """Resize with places that are multiples of 1 / scale, without a shift of half a cell.

    The standard doesn't say which cell is the nearest: onnxruntime takes the one before, and the
    one after where an axis gets shorter.
    """
    scales = np.asarray(must_be_known(as_tensor_variable(scales), "how much it scales"), "float32")
    steps = [("floor", np.maximum(scales, 1)), ("ceil", np.minimum(scales, 1))]
    if mode == "linear":
        steps = [("floor", scales)]
    for nearest, factors in steps:
        x = resampling.resize(
            node,
            x,
            scales=constant(factors),
            mode=mode,
            nearest_mode=nearest,
            coordinate_transformation_mode="asymmetric",
        )
    return x


# ------------------------------------------------------------------------- what can't be read


@operator_funcify.register("MeanVarianceNormalization", before=9)
def mean_variance_normalization(x):
    raise Refused("it was an experiment before opset 9 and is no longer in the standard")
