"""The same graph in double precision, and what single precision loses of a detector's output."""

from copy import copy

import numpy as np

import pytensor
import pytensor.tensor as pt
from pytensor.compile.builders import SymbolicOp
from pytensor.graph.basic import Constant
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import toposort
from pytensor.link.jax.tuned import jax_mode
from pytensor.scalar.basic import Cast
from pytensor.tensor.elemwise import CAReduce, Elemwise


def in_double_precision(arguments, outputs):
    """The same graph in which all that is float32 is float64.

    Parameters
    ----------
    arguments : list of Variable
        All that the graph depends on, but for constants.  Shared variables aren't changed: stand
        others in for them before.
    outputs : list of Variable

    Returns
    -------
    arguments, outputs : list of Variable
        New ones.  The graph given is left as it is.
    """
    new = {v: v.type.clone(dtype=wider(v.type.dtype))(name=v.name) for v in arguments}
    for node in toposort(outputs, arguments):
        inputs = [new[v] if v in new else _widened(v) for v in node.inputs]
        op = node.op
        if isinstance(op, CAReduce):
            op = copy(op)
            op.dtype, op.acc_dtype = wider(op.dtype), wider(op.acc_dtype)
        if isinstance(op, SymbolicOp):
            results = op(*inputs, return_list=True)
        elif isinstance(getattr(op, "scalar_op", None), Cast) and isinstance(op, Elemwise):
            results = [pt.cast(inputs[0], wider(node.outputs[0].type.dtype))]
        else:
            results = op.make_node(*inputs).outputs
        new.update(zip(node.outputs, results, strict=True))
    return [new[v] for v in arguments], [new[v] for v in outputs]


def wider(dtype):
    """float64 for float32; what else is given as it is."""
    return "float64" if dtype == "float32" else dtype


def _widened(variable):
    if isinstance(variable, Constant) and getattr(variable.type, "dtype", None) == "float32":
        return pt.constant(variable.data.astype("float64"))
    return variable


def detections_in(dtype, model, images):
    """What a model computes from images, all in one precision, by JAX.

    Parameters
    ----------
    dtype : {"float32", "float64"}
    model : YOLO11n
        In float32; its numbers are taken as they are.
    images : float32 (n, 3, height, width), RGB in 0..1

    Returns
    -------
    ndarray of `dtype`, (n, 4 + classes, anchors)
        As `YOLO11n.decode` says.
    """
    import jax

    image = pt.tensor("image", dtype="float32", shape=(1, *images.shape[1:]))
    stored = list(model.store.all.values())
    arguments = [image, *(v.type(name=v.name) for v in stored)]
    decoded = model.decode(model(image))
    outputs = clone_replace([decoded], replace=dict(zip(stored, arguments[1:], strict=True)))
    if dtype == "float64":
        arguments, outputs = in_double_precision(arguments, outputs)
    values = [v.get_value().astype(dtype) for v in stored]
    # 64-bit types are off in a training; GPUs would shorten the factors of float32 products.
    with jax.enable_x64(dtype == "float64"), jax.default_matmul_precision("highest"):
        compute = pytensor.function(arguments, outputs, mode=jax_mode(), on_unused_input="ignore")
        rows = [compute(one[None].astype(dtype), *values)[0] for one in images]
        return np.concatenate([np.asarray(row) for row in rows])


def single_precision_error(model, images):
    """The largest errors of float32 in what a model computes from images.

    Parameters
    ----------
    model : YOLO11n
    images : float32 (n, 3, height, width), RGB in 0..1

    Returns
    -------
    box, score : float
        In pixels, and in probabilities.
    """
    exact = detections_in("float64", model, images)
    error = np.abs(detections_in("float32", model, images) - exact)
    return float(error[:, :4].max()), float(error[:, 4:].max())
