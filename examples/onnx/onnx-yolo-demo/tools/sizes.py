"""One set of weights for inputs of several sizes: what differs between two exports of a detector.

Those are its input, its output and a few constants: the lengths that arrays are reshaped to, and
the anchors.  For YOLO11n at 320 and 448 pixels they have 50 kB, which compress to 0.7 kB.
"""

from typing import Any

import onnx
from onnx import numpy_helper


class SizeError(ValueError):
    """Two ONNX files that differ in more than the size of their inputs."""


def size_patch(model: onnx.ModelProto, other: onnx.ModelProto) -> onnx.GraphProto:
    """Return what `model` needs to take inputs of another size; see `with_size`.

    Parameters
    ----------
    model, other : onnx.ModelProto
        Two exports of the same weights, at different sizes.

    Returns
    -------
    onnx.GraphProto
        With the other input and output, and the constants that differ.

    Raises
    ------
    SizeError
        If the nodes or the weights differ.
    """
    if [*map(_computation, model.graph.node)] != [*map(_computation, other.graph.node)]:
        raise SizeError("the two have different nodes")
    own = {array.name: array for array in model.graph.initializer}
    patch = onnx.GraphProto(input=other.graph.input, output=other.graph.output)
    for array in other.graph.initializer:
        before = own.pop(array.name, None)
        if before is None:
            raise SizeError(f"only one of the two has the constant {array.name}")
        if before.dims == array.dims and array.data_type != onnx.TensorProto.INT64:
            if (numpy_helper.to_array(before) != numpy_helper.to_array(array)).any():
                raise SizeError(f"the weights {array.name} differ")
        elif before != array:
            patch.initializer.append(array)
    if own:
        raise SizeError(f"only one of the two has the constant {min(own)}")
    return patch


def with_size(model: onnx.ModelProto, patch: onnx.GraphProto) -> onnx.ModelProto:
    """Return a model with another size of input, as ``withSize`` of the page does it.

    SizeError if it lacks a constant of the patch, as when a runtime has computed with it before.
    """
    replaced = {array.name for array in patch.initializer}
    if lacking := replaced - {array.name for array in model.graph.initializer}:
        raise SizeError(f"the model has no constant {min(lacking)}")
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    kept = [array for array in model.graph.initializer if array.name not in replaced]
    for part in ("input", "output", "value_info", "initializer"):
        changed.graph.ClearField(part)
    changed.graph.initializer.extend(kept)
    changed.graph.MergeFrom(patch)
    return changed


def _computation(node: Any) -> bytes:
    """Return what a node computes; notes on where it comes from aside."""
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    copy.ClearField("metadata_props")
    copy.ClearField("doc_string")
    return copy.SerializeToString(deterministic=True)
