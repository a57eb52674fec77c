from functools import partial

from pytensor.compile.builders import OpFromGraph
from pytensor.link.conversions import Conversions
from pytensor.link.onnx.errors import NO_CONVERTER, ConversionError

# Ops that few graphs have, by the modules that define them
EXTRAS = {
    "pytensor.scalar.math": "pytensor.link.onnx.extras.special",
    "pytensor.tensor.linalg": "pytensor.link.onnx.extras.linalg",
    "pytensor.tensor.random": "pytensor.link.onnx.extras.random",
}


@partial(Conversions, modules=EXTRAS)
def onnx_funcify(op, node, builder, *inputs):
    """Write the ONNX nodes of a PyTensor node.

    Register a function for the class of an `Op` to support it, or to replace our own::

        @onnx_funcify.register(MyOp)
        def onnx_funcify_MyOp(op, node, builder, *inputs):
            return builder.add("Relu", *inputs)

    Parameters
    ----------
    op : Op
    node : Apply
        For the types of inputs and outputs, and for constant inputs.
    builder : GraphBuilder
    inputs : str
        Names of the ONNX values of ``node.inputs``.

    Returns
    -------
    str or tuple of str
        Names of the ONNX values of ``node.outputs``.

    Raises
    ------
    ConversionError
        Where ONNX cannot say what the node computes.
    """
    raise ConversionError(f"{NO_CONVERTER} for this Op")


@onnx_funcify.register(OpFromGraph)
def onnx_funcify_OpFromGraph(op, node, builder, *inputs):
    return builder.inline(op.fgraph, inputs)


def as_tuple(names):
    """Return names of outputs as a tuple; `GraphBuilder.add` returns a single one by itself."""
    return (names,) if isinstance(names, str) else names
