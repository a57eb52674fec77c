"""Changes of shape: reshaping, axes, broadcasting, joining and splitting."""

from functools import reduce
from itertools import pairwise
from typing import Literal

import numpy as np

import pytensor.tensor as pt
from pytensor.graph.basic import Constant
from pytensor.link.onnx.importing.alternatives import Either
from pytensor.link.onnx.importing.operators.elementwise import is_integer
from pytensor.link.onnx.importing.registry import Refused, operator_funcify
from pytensor.link.onnx.importing.sizes import (
    DIMS,
    allocated,
    entries,
    folded,
    is_listed,
    known,
    must_be_known,
    normalized,
    positions,
    product,
    reshaped,
    size,
    size_unless_zero,
    sizes,
    vector,
    wanted_sizes,
)
from pytensor.raise_op import Assert
from pytensor.tensor.basic import constant

Order = Literal["DCR", "CRD"]


@operator_funcify.register("Reshape")
def reshape(node, x, shape, *, allowzero=0):
    wanted = wanted_sizes(node, shape, least=-1)
    if not allowzero:
        wanted = [size_unless_zero(v, x, i) for i, v in enumerate(wanted)]
    if len(wanted) == 1 and (is_listed(x) or _is_number(x)):
        return vector(entries(x) if x.type.ndim else [x], x.type.dtype)
    if is_listed(x) and not wanted:
        return entries(x)[0]
    return reshaped(x, wanted)


def _is_number(x):
    """Return whether a scalar may be a size; a vector of it is given by its entry."""
    return x.type.ndim == 0 and is_integer(x)


@operator_funcify.register("Flatten")
def flatten(x, *, axis=1):
    axis = normalized(axis, x.type.ndim, last=x.type.ndim)
    lengths = sizes(x)
    rows, columns = product(lengths[:axis]), product(lengths[axis:])
    number = known(columns)
    if number is None or number == 0:
        return reshaped(x, [rows, constant(np.int64(-1)) if known(rows) else columns])
    return reshaped(x, [constant(np.int64(-1)), columns])


@operator_funcify.register("Squeeze")
def squeeze(node, x, axes=None):
    if axes is not None:
        given = must_be_known(axes, "which axes it is about").ravel()
        axes = {normalized(a, x.type.ndim) for a in given}
    else:
        axes = {a for a, length in enumerate(x.type.shape) if length == 1}
        wanted = node.declared_ndim()
        if x.type.shape.count(None) == 1 and wanted is None:
            # The nodes that read it say whether the open axis stays
            axis, rest = x.type.shape.index(None), constant(np.array(sorted(axes), "int64"))
            every = constant(np.array(sorted({axis, *axes}), "int64"))
            sides = (squeeze(node, x, every), squeeze(node, x, rest))
            return Either(pt.eq(x.shape[axis], 1), *sides, node.label)
        if None in x.type.shape and wanted != x.type.ndim - len(axes):
            raise Refused("which axes are of length 1 is known only when the model runs; give axes")
        longer = [pt.neq(x.shape[a], 1) for a, n in enumerate(x.type.shape) if n is None]
        if longer:
            x = Assert("Squeeze: an open axis has length 1, and the file says that it stays")(
                x, *longer
            )
    if is_listed(x) and axes:
        return entries(x)[0]
    condition = node.importer.condition
    if condition is not None and any(x.type.shape[a] is None for a in axes):
        # Modes that compute both branches of an If must be able to, so the first cell is taken
        fits = [pt.eq(x.shape[a], 1) for a in axes]
        text = f"Squeeze: the axes {sorted(axes)} aren't of length 1"
        x = Assert(text)(x, reduce(pt.and_, fits) | pt.invert(condition))
        return x[tuple(0 if a in axes else slice(None) for a in range(x.type.ndim))]
    x = pt.specify_broadcastable(x, *axes)
    return x.dimshuffle([a for a in range(x.type.ndim) if a not in axes])


@operator_funcify.register("Unsqueeze")
def unsqueeze(x, axes):
    given = must_be_known(axes, "which axes it makes").ravel()
    axes = {normalized(a, x.type.ndim + len(given)) for a in given}
    if len(axes) < len(given):
        raise Refused(f"its axes are {given.tolist()}, which names one twice")
    if _is_number(x) and len(axes) == 1 and not isinstance(x, Constant):
        return vector([x], x.type.dtype)
    return pt.expand_dims(x, sorted(axes))


@operator_funcify.register("Transpose")
def transpose(x, *, perm=()):
    return x.transpose(*perm)


@operator_funcify.register("Expand")
def expand(node, x, shape):
    return broadcast(x, wanted_sizes(node, shape, least=0))


def broadcast(x, wanted):
    """Broadcast `x` and a tensor of the wanted sizes against each other."""
    ndim = max(x.type.ndim, len(wanted))
    x = pt.expand_dims(x, range(ndim - x.type.ndim))
    wanted = [constant(np.int64(1))] * (ndim - len(wanted)) + wanted
    lengths = []
    for axis, (have, want) in enumerate(zip(sizes(x), wanted, strict=True)):
        length = _joint(have, want)
        if known(have) is None and DIMS.of(length) != DIMS.of(have):
            # Only the values will say whether this axis is broadcast
            fits = pt.eq(have, np.int64(1)) | pt.eq(have, length)
            places = pt.switch(fits, positions(length), have)  # else beyond the axis
            x = x.take(places * pt.neq(have, np.int64(1)), axis=axis)
        lengths.append(length)
    return allocated(x, lengths)


def _joint(have, want):
    """Return the length of an axis of length `have` broadcast against one of `want`."""
    if known(have) == 1:
        return want
    if known(want) == 1 or known(have) is not None or DIMS.of(have) == DIMS.of(want):
        return have
    if known(want) is not None:
        return want
    return pt.switch(pt.eq(want, np.int64(1)), have, want)


@operator_funcify.register("Tile")
def tile(node, x, repeats):
    if x.type.ndim == 0:
        return x
    if repeats.type.shape == (None,):
        return pt.tile(x, [repeats[i] for i in range(x.type.ndim)])
    return pt.tile(x, wanted_sizes(node, repeats))


@operator_funcify.register("Concat")
def concat(*tensors, axis):
    axis = normalized(axis, tensors[0].type.ndim)
    if any(map(is_listed, tensors)) and all(
        is_listed(v) or isinstance(v, Constant) for v in tensors
    ):
        return vector([e for v in tensors for e in entries(v)], tensors[0].type.dtype)
    return pt.join(axis, *tensors)


@operator_funcify.register("Split")
def split(node, x, lengths=None, *, axis=0, num_outputs=None):
    axis = normalized(axis, x.type.ndim)
    number = len(node.ir_node.outputs)
    if num_outputs not in (None, number):
        raise Refused(f"its num_outputs is {num_outputs}, and it has {number} outputs")
    if lengths is not None:
        given = entries(lengths)
        if given is None:
            given = [lengths[i] for i in range(number)]
        if len(given) != number:
            raise Refused(f"it has {len(given)} lengths of parts, and {number} outputs")
        given = [known(v) for v in given]
        if any(v is not None and v < 0 for v in given):
            raise Refused(f"one of its parts has a negative length: {[*map(int, given)]}")
        ends = None if any(v is None for v in given) else np.cumsum([0, *given])
        if ends is None:
            return tuple(pt.split(x, lengths, n_splits=number, axis=axis))
        total = x.type.shape[axis]
        if total not in (None, ends[-1]):
            raise Refused(f"its parts add up to {ends[-1]}, and the axis is of length {total}")
        ends = [int(end) for end in ends]
    else:
        whole = size(x, axis)
        length = known(whole)
        if node.opset < 18 and length is not None and length % number:
            raise Refused(
                f"it has an axis that can't be cut into {number} equal parts, of length {length}"
            )
        if length is None:
            part = -(-whole // np.int64(number))
            ends = [part * np.int64(i) for i in range(number)] + [whole]
        else:
            part = -(-int(length) // number)
            ends = [min(part * i, int(length)) for i in range(number)] + [int(length)]
    if is_listed(x) and all(isinstance(end, int) for end in ends):
        row = entries(x)
        return tuple(vector(row[a:b], x.type.dtype) for a, b in pairwise(ends))
    before = (slice(None),) * axis
    return tuple(x[(*before, slice(a, b))] for a, b in pairwise(ends))


@operator_funcify.register("DepthToSpace")
def depth_to_space(x, *, blocksize, mode: Order = "DCR"):
    n, c, h, w = sizes(x)
    part, side = _divided(c, blocksize**2), constant(np.int64(blocksize))
    if mode == "DCR":
        x = reshaped(x, [n, side, side, part, h, w]).dimshuffle(0, 3, 4, 1, 5, 2)
    else:
        x = reshaped(x, [n, part, side, side, h, w]).dimshuffle(0, 1, 4, 2, 5, 3)
    return reshaped(x, [n, part, product([h, side]), product([w, side])])


@operator_funcify.register("SpaceToDepth")
def space_to_depth(x, *, blocksize, mode: Order = "DCR"):
    n, c, h, w = sizes(x)
    rows, columns = _divided(h, blocksize), _divided(w, blocksize)
    side = constant(np.int64(blocksize))
    x = reshaped(x, [n, c, rows, side, columns, side])
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    depth = product([c, constant(np.int64(blocksize**2))])
    return reshaped(x.dimshuffle(order), [n, depth, rows, columns])


def _divided(length, number):
    """Divide a size by a number that divides it."""
    have = known(length)
    if have is not None and have % number:
        raise Refused(f"an axis of length {have} can't be cut into blocks of {number}")
    return folded([length // np.int64(number)])[0]
