"""LSTM over sequences of any length, by `scan`; and its gradient."""

import numpy as np

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx

rng = np.random.default_rng(0)
n_in, n_hidden = 3, 8
sequence = pt.tensor("sequence", shape=(None, None, n_in), dtype="float32")  # time, batch, features
weight = rng.normal(size=(n_in + n_hidden, 4 * n_hidden)).astype("float32") / 4
weight = pytensor.shared(weight, name="weight")


def step(x, hidden, cell, weight):
    gates = pt.concatenate([x, hidden], axis=1) @ weight
    forget, insert, emit, candidate = pt.split(gates, [n_hidden] * 4, n_splits=4, axis=1)
    cell = pt.sigmoid(forget) * cell + pt.sigmoid(insert) * pt.tanh(candidate)
    return pt.sigmoid(emit) * pt.tanh(cell), cell


start = pt.zeros((sequence.shape[1], n_hidden), dtype="float32")
hidden, _ = pytensor.scan(
    step, sequence, [start, start], non_sequences=[weight], return_updates=False
)
gradient = pt.grad(hidden[-1].sum(), weight)
sample = rng.normal(size=(7, 2, n_in)).astype("float32")
model = export_onnx(
    sequence, [hidden, gradient], "lstm.onnx", output_names=["hidden", "gradient"], verify=[sample]
)
print([node.op_type for node in model.graph.node if node.op_type in ("Loop", "Scan")])
