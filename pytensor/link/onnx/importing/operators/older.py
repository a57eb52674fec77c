"""Operators as older opsets define them: attributes that are inputs now, and other meanings."""

import numpy as np
import onnx_ir as ir

import pytensor.tensor as pt
from pytensor.link.onnx.importing.registry import (
    Refused,
    folded,
    must_be_known,
    operator_funcify,
)
from pytensor.link.onnx.importing.sizes import normalized, product, sizes
from pytensor.link.onnx.importing.windows import single
from pytensor.tensor.basic import as_tensor_variable, constant, expand_dims

MOST = float(np.finfo("float32").max)


def _newest(node, *inputs, op_type=None, **attributes):
    """Return the results by the newest definition, with these attributes."""
    converter = operator_funcify.dispatch(op_type or node.op_type)
    return converter(node.with_attributes(**attributes), *inputs)


def _integers(node, name):
    """Return an attribute as the input that it is now, None where it is left out."""
    return constant(np.array(node.attribute(name), "int64")) if node.has(name) else None


# ------------------------------------------------------------------------- broadcasting


@operator_funcify.register(
    *("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"),
    before=7,
)
def binary(node, a, b):
    if node.attribute("broadcast", 0):
        return _newest(node, a, _placed(node, a, b))
    if a.type.ndim != b.type.ndim or _differ(a.type.shape, b.type.shape):
        raise Refused(
            f"its inputs are of the shapes {a.type.shape} and {b.type.shape}, shapes that must be "
            f"equal before opset 7 unless it has the attribute broadcast=1"
        )
    return _newest(node, a, b)


def _differ(some, others):
    return any(None not in pair and pair[0] != pair[1] for pair in zip(some, others, strict=True))


def _has_one_element(x):
    return all(length == 1 for length in x.type.shape)


def _placed(node, a, b):
    """Return the second input, with axes of length 1 at its end so that it broadcasts to `a`."""
    if _has_one_element(b):
        return b.reshape(())
    ndim, given = a.type.ndim, b.type.ndim
    axis = node.attribute("axis", ndim - given)
    # Caffe2 writes -1 where the last axes are meant
    axis = ndim - given if axis == -1 else axis
    if not 0 <= axis <= ndim - given or _differ(
        a.type.shape[axis : axis + given],
        [n if n != 1 else None for n in b.type.shape],
    ):
        raise Refused(
            f"its second input is of {b.type.shape}, a shape that isn't a part of the first one's, "
            f"{a.type.shape}, from the axis {axis} on"
        )
    return expand_dims(b, list(range(given, ndim - axis)))


@operator_funcify.register("Gemm", before=7)
def gemm(node, a, b, c):
    if c.type.ndim != 2 and not node.attribute("broadcast", 0):
        raise Refused("its third input must be a matrix before opset 7, unless broadcast is 1")
    return _newest(node, a, b, c)


@operator_funcify.register("PRelu", before=7)
def prelu(node, x, slope):
    if _has_one_element(slope):
        slope = slope.reshape(())
    elif slope.type.ndim == 1 and x.type.ndim > 2:
        slope = expand_dims(slope, list(range(1, x.type.ndim - 1)))  # of each channel
    return _newest(node, x, slope)


# ------------------------------------------------------------------------- matrices of all axes


@operator_funcify.register("Hardmax", "LogSoftmax", "Softmax", before=13)
def along_rows(node, x):
    """Compute over rows of a matrix: the axes before `axis` and from it on are flattened."""
    ndim = x.type.ndim
    axis = normalized(node.attribute("axis", 1), ndim)
    longer = [a for a in range(axis, ndim) if x.type.shape[a] != 1] or [axis]
    if len(longer) == 1:
        return _newest(node, x, axis=longer[0])
    lengths = sizes(x)
    matrix = x.reshape((*lengths[:axis], product(lengths[axis:])), ndim=axis + 1)
    return as_tensor_variable(_newest(node, matrix, axis=axis)).reshape(lengths, ndim=ndim)


# ------------------------------------------------------------------------- training, or not


@operator_funcify.register("BatchNormalization", before=9)
def batch_normalization(node, x, scale, bias, mean, variance):
    if not node.attribute("is_test", 1):
        raise Refused("it trains (is_test is 0): export the model for inference")
    if node.attribute("spatial", 1):
        return _newest(node, x, scale, bias, mean, variance)
    if node.has_output(1):
        raise Refused("it trains, for it has more than one output: export it for inference")
    epsilon = single(node, "epsilon", 1e-5)
    return pt.batch_normalization(
        x, scale, bias, mean, variance, epsilon=epsilon, axes="per-activation"
    )


@operator_funcify.register("Dropout", before=12)
def dropout(node, x):
    if node.opset < 7 and not node.attribute("is_test", 0):
        raise Refused(
            "it drops at random, for is_test is 0, as it is by default before opset 7: set it to 1"
        )
    if node.uses_output(1):
        raise Refused("its mask is read, of which the standard says nothing before opset 12")
    return x


# ------------------------------------------------------------------------- attributes


@operator_funcify.register("Cast", before=6)
def cast(node, x):
    name = node.required("to")
    if name not in ir.DataType.__members__:
        raise Refused(f"there is no element type {name!r}")
    return _newest(node, x, to=ir.DataType[name].value)


@operator_funcify.register("Clip", before=11)
def clip(node, x):
    bounds = [single(node, "min", -MOST), single(node, "max", MOST)]
    with np.errstate(over="ignore"):  # infinity in float16, which is no bound either
        return _newest(node, x, *(constant(np.asarray(v, x.type.dtype)) for v in bounds))


@operator_funcify.register("Concat", before=4)
def concat(node, *tensors):
    return _newest(node, *tensors, axis=node.attribute("axis", 1))


@operator_funcify.register("OneHot", before=11)
def one_hot(node, indices, depth, values):
    """Give negative indices no place; since opset 11 they count from the end."""
    indices = pt.cast(indices, "int64")
    beyond = pt.cast(depth.reshape(()), "int64")
    return _newest(node, pt.switch(pt.lt(indices, np.int64(0)), beyond, indices), depth, values)


@operator_funcify.register("Pad", before=11)
def pad(node, x):
    pads = node.required("paddings" if node.opset < 2 else "pads")
    # The text of opset 1 has beginnings and ends apart, its example in pairs
    if node.opset < 2 and pads != np.reshape(pads, (-1, 2)).T.ravel().tolist():
        raise Refused("the standard contradicts itself about paddings in opset 1")
    value = constant(np.asarray(single(node, "value", 0.0), x.type.dtype))
    return _newest(node, x, constant(np.array(pads, "int64")), value)


@operator_funcify.register("Reshape", before=5)
def reshape(node, x):
    return _newest(node, x, constant(np.array(node.required("shape"), "int64")))


@operator_funcify.register("Selu", before=6)
def selu(node, x):
    alpha, gamma = node.attribute("alpha", 1.6732), node.attribute("gamma", 1.0507)
    return _newest(node, x, alpha=alpha, gamma=gamma)


@operator_funcify.register("Slice", before=10)
def slice_(node, x):
    starts, ends, axes = (_integers(node, name) for name in ("starts", "ends", "axes"))
    if starts is None or ends is None:
        raise Refused("it has no starts or no ends, which it must have")
    return _newest(node, x, starts, ends, axes)


@operator_funcify.register("Split", before=13)
def split(node, x, lengths=None):
    return _newest(node, x, _integers(node, "split") if lengths is None else lengths)


@operator_funcify.register("Squeeze", before=13)
def squeeze(node, x):
    # No axes are all of length 1, as left out, for runtimes and the standard's own evaluator
    return _newest(node, x, axes=node.attribute("axes") or None)


@operator_funcify.register("Tile", before=6)
def tile(node, x, tiles, axis):
    repeats = [constant(np.int64(1))] * x.type.ndim
    axis = normalized(int(must_be_known(axis, "its axis").item()), x.type.ndim)
    repeats[axis] = pt.cast(tiles.reshape(()), "int64")
    return _newest(node, x, folded([pt.stack(repeats)])[0])


@operator_funcify.register("TopK", before=10)
def top_k(node, x):
    return _newest(node, x, constant(np.array([node.required("k")], "int64")))


@operator_funcify.register("Unsqueeze", before=13)
def unsqueeze(node, x):
    return _newest(node, x, constant(np.array(node.required("axes"), "int64")))


# ------------------------------------------------------------------------- resizing


@operator_funcify.register("Upsample", before=10)
def upsample(node, x, scales=None):
    mode = node.attribute("mode", "nearest")
    if node.opset < 7:
        scales = [1.0, 1.0, node.required("height_scale"), node.required("width_scale")]
        mode = "linear" if mode == "bilinear" else mode
    elif node.opset < 9:
        scales = node.required("scales")
    return _resized(node, x, scales, mode)


@operator_funcify.register("Resize", before=11)
def resize(node, x, scales):
    return _resized(node, x, scales, node.attribute("mode", "nearest"))


def _resized(node, x, scales, mode):
    """Resize with places that are multiples of 1 / scale, without a shift of half a cell.

    The standard doesn't say which cell is the nearest: onnxruntime takes the one before, and the
    one after where an axis gets shorter.
    """
    if mode not in ("nearest", "linear"):
        raise Refused(f"its mode is {mode!r}; there are 'nearest' and 'linear'")
    scales = np.asarray(must_be_known(as_tensor_variable(scales), "how much it scales"), "float32")
    steps = [("floor", np.maximum(scales, 1)), ("ceil", np.minimum(scales, 1))]
    if mode == "linear":
        steps = [("floor", scales)]
    for nearest, factors in steps:
        x = _newest(
            node, x, None, constant(factors), op_type="Resize", mode=mode,
            nearest_mode=nearest, coordinate_transformation_mode="asymmetric",
        )  # fmt: skip
    return x


# ------------------------------------------------------------------------- what can't be read


@operator_funcify.register("MeanVarianceNormalization", before=9)
def mean_variance_normalization(node, x):
    raise Refused("it was an experiment before opset 9, which the standard doesn't have any more")
