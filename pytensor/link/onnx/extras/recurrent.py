"""Recurrent layers."""

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.write.term import concat
from pytensor.tensor.recurrent import Recurrent

# Where ONNX's gates are among PyTorch's: of an LSTM, input, output, forget and cell; of a GRU,
# update, reset and hidden.
ORDERS = {"LSTM": [0, 3, 1, 2], "GRU": [1, 0, 2]}


@onnx_funcify.register(Recurrent)
def onnx_funcify_Recurrent(op, node, x, *rest):
    order, size = ORDERS[op.cell], node.inputs[2 + op.biased].type.shape[1]
    rows = x.builder.constant((np.array(order)[:, None] * size + np.arange(size)).ravel())

    count = 4 if op.biased else 2
    parameters, states = [v.gather(rows) for v in rest[:count]], rest[count:]
    weight, of_state = parameters[:: 1 + op.biased]
    bias = concat(parameters[1::2]).unsqueeze(0) if op.biased else None
    attributes = {"linear_before_reset": 1} if op.cell == "GRU" else {}
    y, *last = x.node(
        op.cell,
        weight.unsqueeze(0),
        of_state.unsqueeze(0),
        bias,
        None,  # lengths of the sequences
        *(state.unsqueeze(0) for state in states),
        n_outputs=len(node.outputs),
        hidden_size=size,
        direction="reverse" if op.backwards else "forward",
        **attributes,
    )
    return y.squeeze(1), *(state.squeeze(0) for state in last)
