"""Checks that several converters share."""

from pytensor.link.onnx.errors import ConversionError


def require_dtype(node, op_type, dtypes):
    """Refuse dtypes for which onnxruntime has no kernel, instead of computing in another one."""
    dtype = node.inputs[0].type.dtype
    if dtype not in dtypes:
        raise ConversionError(
            f"onnxruntime has no {op_type} for {dtype} ({', '.join(dtypes)} only); "
            "build the graph with, or cast its inputs to, float32"
        )


def split_pairs(pairs):
    """Separate (before, after) pairs into ONNX's list of befores and list of afters."""
    before, after = zip(*pairs, strict=True)
    return [int(pad) for pad in before], [int(pad) for pad in after]
