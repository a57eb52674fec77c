"""The table of converters from Ops to ONNX."""

from functools import partial

from pytensor.link.conversions import Conversions
from pytensor.link.onnx.errors import NO_CONVERTER, ConversionError

# Ops that few graphs have, by the modules that define them
EXTRAS = {
    "pytensor.scalar.math": "pytensor.link.onnx.extras.special",
    "pytensor.tensor.linalg": "pytensor.link.onnx.extras.linalg",
    "pytensor.tensor.random": "pytensor.link.onnx.extras.random",
    "pytensor.tensor.recurrent": "pytensor.link.onnx.extras.recurrent",
}
# Ops of packages that may be missing
OTHERS = {"pytensor_ml.layers.conv": "pytensor.link.onnx.pytensor_ml"}


@partial(Conversions, modules=EXTRAS, others=OTHERS)
def onnx_funcify(op, node, *inputs):
    """Write the ONNX nodes of a PyTensor node.

    Register a function for the class of an `Op` to support it, or to replace our own::

        @onnx_funcify.register(MyOp)
        def onnx_funcify_MyOp(op, node, x):
            return x.node("Relu")

    Parameters
    ----------
    op : Op
    node : Apply
        For the types of inputs and outputs, and for constant inputs.
    inputs : Term
        The ONNX values of ``node.inputs``; a `Generator` for a random generator, None for other
        inputs that are no tensors.  An Op without any of these gets the `GraphBuilder`.

    Returns
    -------
    Term or tuple of Term
        The ONNX values of ``node.outputs``.

    Raises
    ------
    ConversionError
        Where ONNX cannot say what the node computes.
    """
    raise ConversionError(f"{NO_CONVERTER} for this Op")
