from math import frexp

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.checks import can_raise, require
from pytensor.tensor.known_lengths import cells_are_left
from pytensor.tensor.resize.ops import Resize, ResizeGrad


@onnx_funcify.register(Resize)
def onnx_funcify_Resize(op, node, x):
    x_type, builder = node.inputs[0].type, x.builder
    if is_native(op, x_type, builder.opset):
        result = native_resize(op, x, x_type.shape)
    else:
        (result,) = builder.inline(op.fgraph, (x,))
    opened = [axis for axis in op.axes if x_type.shape[axis] is None]
    if opened and not op.has_fixed_lengths and can_raise(builder):
        left = result.sizes().gather(opened) > 0
        require(left, cells_are_left.exc_type, cells_are_left.msg)
    return result


def native_resize(op, x, shape):
    resized = range(len(shape) - op.n_spatial, len(shape))
    order = [op.axes.index(axis) for axis in resized]
    rest = len(shape) - op.n_spatial
    factors, sizes, axes = None, None, None
    if op.scale is not None:
        factors = [op.scale[i] for i in order]
    else:
        size = [op.size[i] for i in order]
        lengths = shape[rest:]
        if None not in shape[:rest]:
            sizes = [*shape[:rest], *size]
        elif None not in lengths and not any(
            new % old for new, old in zip(size, lengths, strict=True)
        ):
            # Whole factors are exact, and understood by runtimes that know no `axes`.
            factors = [new / old for new, old in zip(size, lengths, strict=True)]
        else:
            sizes, axes = size, list(resized)
    scales = None
    if factors is not None:
        scales = x.builder.constant([1.0] * rest + factors, "float32")
    return x.node(
        "Resize",
        None,
        scales,
        *(() if sizes is None else (sizes,)),
        axes=axes,
        mode=op.mode,
        coordinate_transformation_mode=op.coordinate_transformation_mode,
        nearest_mode=op.nearest_mode or None,
        cubic_coeff_a=op.cubic_coeff_a if op.mode == "cubic" else None,
        antialias=1 if op.antialias else None,
        exclude_outside=1 if op.exclude_outside else None,
    )


@onnx_funcify.register(ResizeGrad)
def onnx_funcify_ResizeGrad(op, node, x, cotangent):
    return x.builder.inline(op.fgraph, (x, cotangent))


def is_native(op, x_type, opset):
    """Return whether onnxruntime's Resize computes it, from the same cells."""
    coordinates = op.coordinate_transformation_mode
    if x_type.dtype not in ("float16", "float32"):
        return False
    if not has_kernel(op, x_type.ndim):
        return False
    if op.keep_aspect_ratio_policy != "stretch" or sorted(op.axes) != list(
        range(x_type.ndim - op.n_spatial, x_type.ndim)
    ):
        return False
    # ONNX has "tf_half_pixel_for_nn" up to operator set 12 only.
    if coordinates in ("tf_crop_and_resize", "tf_half_pixel_for_nn"):
        return False
    if coordinates == "half_pixel_symmetric" and opset < 19:
        return False
    lengths = [x_type.shape[axis] for axis in op.axes]
    if op.scale is not None:
        if not all(is_exact(op, f, n) for f, n in zip(op.scale, lengths, strict=True)):
            return False
        # onnxruntime returns the input itself where no length changes, and with antialias
        # leaves out each axis whose length doesn't.
        # thoughts/upstream/onnxruntime-resize.md
        kept = [may_keep(f, n) for f, n in zip(op.scale, lengths, strict=True) if f != 1]
        if kept and (any(kept) if op.antialias else all(kept)):
            return False
    if op.mode != "nearest":
        return True
    # onnxruntime's coordinates have single precision: rounded, they can be another cell's
    # if a factor isn't a power of two, which shows on long axes.
    # thoughts/upstream/onnxruntime-resize.md
    if op.scale is not None:
        factors = op.scale
    else:
        factors = [new / old if old else 0.0 for new, old in zip(op.size, lengths, strict=True)]
    return all(
        frexp(factor)[0] == 0.5 and (factor == 1 or coordinates != "align_corners")
        for factor in factors
    )


def has_kernel(op, rank):
    """Return whether onnxruntime has a kernel of this mode for an input of this rank."""
    n = op.n_spatial
    if op.mode == "nearest":
        return True
    if op.mode == "cubic":
        return rank == 2 or (rank, n) == (4, 2)
    if op.exclude_outside and not op.antialias:
        return False
    return n <= {2: 2, 3: 3, 4: 2, 5: 3}.get(rank, 0)


def may_keep(factor, length):
    """Return whether a factor may leave a length as it is; a length of None isn't known."""
    if factor < 1 or factor >= 2:
        return False
    return length is None or np.floor(length * factor) == length


def is_exact(op, factor, length):
    """Return whether onnxruntime finds the same output length, in single precision.

    In mode ``"align_corners"`` it also finds the last cell by that length, where we take the length
    before it was rounded.
    """
    if op.coordinate_transformation_mode == "align_corners" and not factor.is_integer():
        return (
            length is not None and (length * factor).is_integer() and np.float32(factor) == factor
        )
    # products of lengths below 2**16 and factors of few bits are exact
    if (factor * 64).is_integer() and factor < 4:
        return True
    if length is None:
        return factor.is_integer() and factor < 256
    single = np.floor(np.float32(factor) * np.float32(length))
    return single == np.floor(factor * length)
