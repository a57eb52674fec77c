"""Small ONNX models, made of nodes."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def make_model(nodes, constants, inputs, outputs, **metadata):
    """Make an ONNX model of nodes, arrays and metadata by name; None leaves an entry out.

    `inputs` and `outputs` are shapes by name, of float32 values, or (type of TensorProto, shape).
    """
    arrays = [numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items()]
    ends = [
        [
            helper.make_tensor_value_info(
                name, *(form if isinstance(form, tuple) else (TensorProto.FLOAT, form))
            )
            for name, form in values.items()
        ]
        for values in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, "small", *ends, arrays)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    helper.set_model_props(model, {k: v for k, v in metadata.items() if v is not None})
    return model
