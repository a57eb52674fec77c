"""Recurrent layers."""

from typing import Literal

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx.importing.operators.activations import of_gates
from pytensor.link.onnx.importing.registry import Refused, attributes_of, operator_funcify
from pytensor.link.onnx.importing.sizes import filled, like, positions
from pytensor.tensor.batching import lengths_of

DIRECTIONS = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}


def _layer(
    x,
    w,
    size,
    sequence_lens,
    initial,
    step,
    prepared,
    defaults,
    *,
    activation_alpha=(),
    activation_beta=(),
    activations=None,
    clip=None,
    direction: Literal[*DIRECTIONS] = "forward",
    layout=0,
    output_sequence=0,
):
    """Run a layer's step over time, in its directions; returns Y and the last states.

    `step` gets a function that gives a gate's part of the input, the states and what `prepared`
    returns for a direction besides the bias; it returns the new states, the hidden one first.
    `output_sequence`, of opsets before 7, says whether Y is wanted.
    """
    directions = DIRECTIONS[direction]
    if layout:
        x = x.dimshuffle(1, 0, 2)
        initial = [v if v is None else v.dimshuffle(1, 0, 2) for v in initial]
    steps, batch, _ = lengths_of(x)
    functions = of_gates(defaults, len(directions), activations, activation_alpha, activation_beta)
    if clip is not None:
        limit = like(x, clip)
        # of gates: as in onnxruntime, not of the cell, which an LSTM's third function gets
        functions = [
            [*(lambda v, f=f: f(pt.clip(v, -limit, limit)) for f in group[:2]), *group[2:]]
            for group in functions
        ]
    outputs = []
    for number, backward in enumerate(directions):
        order = _time_order(steps, sequence_lens, backward)
        bias, constants = prepared(number)
        states = [
            filled(like(x, 0), (batch, size)) if v is None else v[number] for v in initial
        ]
        states = [pt.specify_shape(v, (x.type.shape[1], size)) for v in states]
        projected = pt.dot(_reordered(x, order), w[number].T)
        projected = projected if bias is None else projected + bias
        run = _scan(step, functions[number], size, projected, states, constants, sequence_lens)
        last = [
            v[-1] if first is None else _unless_idle(v[-1], steps, sequence_lens)
            for v, first in zip(run, initial, strict=True)
        ]
        outputs.append((_reordered(_until(run[0], sequence_lens), order), *last))
    hidden, *last = (pt.stack(values, axis=0) for values in zip(*outputs, strict=True))
    if layout:
        return hidden.dimshuffle(2, 1, 0, 3), *(v.dimshuffle(1, 0, 2) for v in last)
    return hidden.dimshuffle(1, 0, 2, 3), *last


@operator_funcify.register("RNN")
@attributes_of(_layer)
def rnn(x, w, r, b=None, sequence_lens=None, initial_h=None, *, hidden_size=None, **layer):
    def step(gate, h, r, *rest, functions):
        (f,) = functions
        return [f(gate(0) + pt.dot(h, r.T))]

    def prepared(direction):
        return _bias(b, direction, 1), [r[direction]]

    size = _size(r, hidden_size)
    return _layer(x, w, size, sequence_lens, [initial_h], step, prepared, ["Tanh"], **layer)


@operator_funcify.register("GRU")
@attributes_of(_layer)
def gru(
    x, w, r, b=None, sequence_lens=None, initial_h=None, *, hidden_size=None,
    linear_before_reset=0, **layer,
):  # fmt: skip
    size, after = _size(r, hidden_size), linear_before_reset

    def step(gate, h, r, *rb, functions):
        f, g = functions
        rz, rr, rh = (r[i * size : (i + 1) * size] for i in range(3))
        z = f(gate(0) + pt.dot(h, rz.T))
        reset = f(gate(1) + pt.dot(h, rr.T))
        if after:
            recurrent = pt.dot(h, rh.T)
            candidate = g(gate(2) + reset * (recurrent + rb[0] if rb else recurrent))
        else:
            candidate = g(gate(2) + pt.dot(reset * h, rh.T))
        return [(like(h, 1) - z) * candidate + z * h]

    def prepared(direction):
        if b is None or not after:
            return _bias(b, direction, 3), [r[direction]]
        # the reset gate multiplies the hidden gate's recurrent bias as well
        of_w, of_r = b[direction, : 3 * size], b[direction, 3 * size :]
        bias = of_w + pt.set_subtensor(of_r[2 * size :], like(b, 0))
        return bias, [r[direction], of_r[2 * size :]]

    gates = ["Sigmoid", "Tanh"]
    return _layer(x, w, size, sequence_lens, [initial_h], step, prepared, gates, **layer)


@operator_funcify.register("LSTM")
@attributes_of(_layer)
def lstm(
    x, w, r, b=None, sequence_lens=None, initial_h=None, initial_c=None, peepholes=None, *,
    hidden_size=None, input_forget=0, **layer,
):  # fmt: skip
    size = _size(r, hidden_size)

    def step(gate, h, c, r, *p, functions):
        f, g, out = functions
        # the order of gates is input, output, forget, cell; of peepholes input, output, forget
        recurrent = pt.dot(h, r.T)
        parts = [gate(i) + recurrent[:, i * size : (i + 1) * size] for i in range(4)]

        def peeped(i, cell):
            return parts[i] + p[0][i * size : (i + 1) * size] * cell if p else parts[i]

        enter = f(peeped(0, c))
        forget = like(c, 1) - enter if input_forget else f(peeped(2, c))
        new = forget * c + enter * g(parts[3])
        return [f(peeped(1, new)) * out(new), new]

    def prepared(direction):
        constants = [r[direction]] if peepholes is None else [r[direction], peepholes[direction]]
        return _bias(b, direction, 4), constants

    states, gates = [initial_h, initial_c], ["Sigmoid", "Tanh", "Tanh"]
    return _layer(x, w, size, sequence_lens, states, step, prepared, gates, **layer)


def _size(r, hidden_size):
    size = r.type.shape[2] if hidden_size is None else hidden_size
    if size is None:
        raise Refused("it doesn't say how large its hidden state is: give it hidden_size")
    return size


def _bias(b, direction, gates):
    """Return the sum of the biases of input and recurrence, which are halves of `b`."""
    if b is None:
        return None
    half = b.type.shape[1]
    half = b.shape[1] // 2 if half is None else half // 2
    return b[direction, :half] + b[direction, half:]


def _scan(step, functions, size, projected, states, constants, sequence_lens):
    """Return all states over time; after a sequence's end they stay as they are."""
    ends = [] if sequence_lens is None else [_inside(projected, sequence_lens)]

    def one(row, *rest):
        inside, rest = rest[: len(ends)], rest[len(ends) :]
        old, rest = rest[: len(states)], rest[len(states) :]

        def gate(i):
            return row[:, i * size : (i + 1) * size]

        new = step(gate, *old, *rest, functions=functions)
        if inside:
            new = [pt.switch(inside[0][:, None], n, o) for n, o in zip(new, old, strict=True)]
        return [pt.specify_shape(n, o.type.shape) for n, o in zip(new, old, strict=True)]

    return pytensor.scan(
        one,
        sequences=[projected, *ends],
        outputs_info=states,
        non_sequences=constants,
        strict=True,
        return_list=True,
        return_updates=False,
    )


def _unless_idle(last, steps, sequence_lens):
    """Return last states: as in onnxruntime, zeros after no step, whatever the first ones are."""
    if sequence_lens is not None:
        return pt.switch((sequence_lens > 0)[:, None], last, like(last, 0))
    if isinstance(steps, int) and steps:
        return last
    return pt.switch(pt.gt(steps, 0), last, like(last, 0))


def _inside(x, sequence_lens):
    """Return which steps of each example aren't after its end: shape (time, batch)."""
    return positions(lengths_of(x)[0], "int32")[:, None] < sequence_lens[None]


def _time_order(steps, sequence_lens, backward):
    """Return the order in which a direction takes the steps, by example if lengths differ."""
    if not backward:
        return None
    time = positions(steps)
    if sequence_lens is None:
        return slice(None, None, -1)
    time, ends = time[:, None], pt.cast(sequence_lens, "int64")[None]
    return pt.switch(time < ends, ends - 1 - time, time)


def _reordered(x, order):
    if order is None:
        return x
    if isinstance(order, slice):
        return x[order]
    return x[order, positions(lengths_of(x)[1])[None]]


def _until(hidden, sequence_lens):
    """Put zeros after the ends of sequences."""
    if sequence_lens is None:
        return hidden
    return pt.switch(_inside(hidden, sequence_lens)[:, :, None], hidden, like(hidden, 0))
