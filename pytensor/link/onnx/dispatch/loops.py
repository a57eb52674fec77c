"""Scans, brought into a form in which ONNX has them.

A `Scan` writes each result into a buffer that holds the initial values too, and that may be
shorter than the number of steps, or longer.  ONNX's Loop carries values and collects others.
"""

from collections import Counter

import numpy as np

import pytensor.tensor as pt
from pytensor.compile.maker import function
from pytensor.compile.mode import Mode
from pytensor.compile.ops import DeepCopyOp
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.op import Op
from pytensor.graph.traversal import ancestors
from pytensor.link.onnx.dims import Dims, constant_index
from pytensor.scalar.basic import Add, Cast, Sub
from pytensor.scan.op import ScanMethodsMixin
from pytensor.tensor.basic import AllocEmpty, ScalarFromTensor, TensorFromScalar
from pytensor.tensor.shape import Shape_i
from pytensor.tensor.subtensor import IncSubtensor, Subtensor
from pytensor.tensor.type import TensorType


class Loop(Op, ScanMethodsMixin):
    """A `Scan` that is given initial values instead of buffers, and returns what is new.

    Its outputs are a `Scan`'s, but without initial values and with one entry for each step; the
    last one is the number of steps that it took.  `fgraph` computes one step.
    """

    __props__ = ("info", "fgraph")

    def __init__(self, info, fgraph):
        self.info = info
        self.fgraph = fgraph

    def __str__(self):
        return "Loop"

    def make_node(self, *inputs):
        inner = self.fgraph.outputs
        collected = [
            *self.inner_mitsot_outs(inner),
            *self.inner_sitsot_outs(inner),
            *self.inner_nitsot_outs(inner),
        ]
        outputs = [
            *(buffer.type() for buffer in self.grouped(inputs).mit_mots),
            *(TensorType(v.type.dtype, (None, *v.type.shape))() for v in collected),
            *(v.type() for v in self.inner_untraced_sit_sot_outs(inner)),
            pt.lscalar(),
        ]
        return Apply(self, inputs, outputs)

    def perform(self, node, inputs, output_storage):
        info, outer = self.info, self.grouped(inputs)
        step = function(
            self.fgraph.inputs,
            self.fgraph.outputs,
            mode=Mode("py", optimizer=None),
            on_unused_input="ignore",
        )
        buffers = [np.array(buffer) for buffer in outer.mit_mots]
        traces = [list(first) for first in outer.initial] + [[] for _ in range(info.n_nit_sot)]
        depths = lookbacks(info) + [0] * info.n_nit_sot
        recurrent_taps = (*info.mit_sot_in_slices, *info.sit_sot_in_slices)
        untraced, count, done = outer.untraced, 0, False
        while count < outer.n_steps and not done:
            arguments = [seq[count] for seq in outer.seqs]
            for buffer, taps in zip(buffers, info.mit_mot_in_slices, strict=True):
                arguments += [buffer[count + window_start(taps) + tap] for tap in taps]
            for trace, taps in zip(traces, recurrent_taps, strict=False):
                arguments += [trace[len(trace) + tap] for tap in taps]
            results = iter(step(*arguments, *untraced, *outer.non_seqs))
            for buffer, taps, targets in zip(
                buffers, info.mit_mot_in_slices, info.mit_mot_out_slices, strict=True
            ):
                for tap in targets:
                    buffer[count + window_start(taps) + tap] = next(results)
            for trace in traces:
                trace.append(next(results))
            untraced = [next(results) for _ in untraced]
            done = info.as_while and bool(next(results))
            count += 1
        first = len(buffers)
        for number, (trace, depth) in enumerate(zip(traces, depths, strict=True), first):
            variable = node.outputs[number]
            empty = np.empty([size or 0 for size in variable.type.shape], variable.type.dtype)
            traces[number - first] = np.stack(trace[depth:]) if count else empty
        results = [*buffers, *traces, *untraced, np.array(count)]
        for storage, result in zip(output_storage, results, strict=True):
            storage[0] = result

    def infer_shape(self, node, shapes):
        outer = self.grouped(shapes)
        steps = node.outputs[-1]
        if not self.info.as_while:
            steps = pt.cast(node.inputs[0], "int64")
        collected = [
            (steps, *(Shape_i(axis)(v) for axis in range(1, v.type.ndim)))
            for v in self.outer_nitsot_outs(node.outputs)
        ]
        recurrent = [(steps, *shape[1:]) for shape in outer.initial]
        return [*outer.mit_mots, *recurrent, *collected, *outer.untraced, ()]

    def grouped(self, inputs):
        return LoopInputs(self.info, inputs)


class LoopInputs:
    """What a `Loop` is given, by what it is.

    `mit_mots` are the buffers that several outputs of a step are written to, `initial` the first
    values of the other recurrences, the oldest first, and `untraced` the values of states of
    which only the last is returned.
    """

    def __init__(self, info, inputs):
        inputs = iter(inputs)

        def take(count):
            return [next(inputs) for _ in range(count)]

        (self.n_steps,) = take(1)
        self.seqs = take(info.n_seqs)
        self.mit_mots = take(info.n_mit_mot)
        self.initial = take(info.n_mit_sot + info.n_sit_sot)
        self.untraced = take(info.n_untraced_sit_sot)
        self.non_seqs = list(inputs)


def window_start(taps):
    """Return where in its buffer tap 0 of a mit-mot is at the first step."""
    return -min(0, *taps)


def lookbacks(info):
    """Return how many values before the first step each mit-sot and sit-sot reads."""
    return [-min(taps) for taps in (*info.mit_sot_in_slices, *info.sit_sot_in_slices)]


def lower_scan(fgraph, node, step):
    """Replace a `Scan`, in place, by a `Loop` and what cuts its results to length.

    The graph has a `ShapeFeature`; `step` is the graph of a step.
    """
    op, info, dims = node.op, node.op.info, Dims(fgraph.shape_feature)
    n_steps = node.inputs[0]
    buffers = [*op.outer_mitsot(node.inputs), *op.outer_sitsot(node.inputs)]
    depths = lookbacks(info)
    firsts = [initial_values(*pair) for pair in zip(buffers, depths, strict=True)]
    outputs = Loop(info, step)(
        n_steps,
        *op.outer_seqs(node.inputs),
        *op.outer_mitmot(node.inputs),
        *(first for first, _ in firsts),
        *op.outer_untraced_sit_sot(node.inputs),
        *op.outer_non_seqs(node.inputs),
        return_list=True,
    )
    steps = outputs.pop()
    lengths = [length for _, length in firsts] + op.outer_nitsot(node.inputs)
    firsts = [first for first, _ in firsts] + [None] * info.n_nit_sot
    depths = depths + [0] * info.n_nit_sot
    start, stop = info.n_mit_mot, info.n_mit_mot + len(lengths)
    replacements = list(zip(node.outputs[:start], outputs[:start], strict=True))
    replacements += zip(node.outputs[stop:], outputs[stop:], strict=True)
    for old, new, first, depth, length in zip(
        node.outputs[start:stop], outputs[start:stop], firsts, depths, lengths, strict=True
    ):
        if first is None:
            new = trace = with_inner_shape(fgraph, old, new, steps)
        else:
            trace = pt.join(0, first, new)
        if difference(dims, length, n_steps) == depth:
            clients = [client for client, _ in fgraph.clients[old]]
            replacements += [(c.outputs[0], new) for c in clients if is_tail(c, old, depth)]
        else:
            taken = n_steps if not info.as_while else steps
            trace = cut(trace, length, depth, n_steps, taken, is_nit_sot=first is None)
        replacements.append((old, trace))
    fgraph.replace_all(replacements, reason="lower_scan")


def initial_values(buffer, depth):
    """Return the first `depth` entries of a buffer, and its length."""
    node = buffer.owner
    while node is not None and isinstance(node.op, DeepCopyOp):
        node = node.inputs[0].owner
    if node is not None and isinstance(node.op, IncSubtensor) and node.op.set_instead_of_inc:
        empty, values = node.inputs[:2]
        made = empty.owner is not None and isinstance(empty.owner.op, AllocEmpty)
        if made and constant_index(node) == [slice(None, depth)]:
            length, *sizes = empty.owner.inputs
            wanted = (depth, *empty.type.shape[1:])
            if values.type.ndim < empty.type.ndim or any(
                size == 1 != wanted_size
                for size, wanted_size in zip(values.type.shape, wanted, strict=True)
            ):
                values = pt.alloc(values, depth, *sizes)
            return pt.cast(values, buffer.type.dtype), length
    return buffer[:depth], buffer.shape[0]


def with_inner_shape(fgraph, old, new, steps):
    """Give a nit-sot its sizes, where they are known without a step: there may be none."""
    if None not in old.type.shape[1:]:
        return new
    sizes = [fgraph.shape_feature.get_shape(old, axis) for axis in range(1, old.type.ndim)]
    if old in ancestors(sizes):
        return new
    shape = [static or size for static, size in zip(old.type.shape[1:], sizes, strict=True)]
    return new.reshape((steps, *shape))


def is_tail(node, variable, start):
    """Return whether a node computes ``variable[start:]``."""
    return (
        isinstance(node.op, Subtensor)
        and node.inputs[0] is variable
        and constant_index(node) == [slice(start, None)]
    )


def cut(trace, length, depth, n_steps, taken, *, is_nit_sot):
    """Return what a buffer of `length` entries holds once all values of `trace` are in it.

    It wraps around, and then the oldest entry comes first; what was never written is 0.
    """
    dropped = pt.maximum(taken + depth - length, 0)
    if is_nit_sot and isinstance(length, Constant) and not isinstance(n_steps, Constant):
        # PyTensor's rewrites keep two entries for x[-2:], even if there are fewer steps
        return trace[dropped:]
    missing = pt.maximum(length - n_steps - depth, 0)
    if is_nit_sot:
        # Without a step there is no buffer.
        missing = pt.switch(pt.eq(n_steps, 0), 0, missing)
    rest = pt.zeros((missing, *(trace.shape[axis] for axis in range(1, trace.ndim))), trace.dtype)
    return pt.join(0, trace[dropped:], rest)


def difference(dims, x, y):
    """Return ``x - y`` of two integer scalars as an int, or None where it isn't known."""
    terms, constant = _linear(dims, x)
    other_terms, other_constant = _linear(dims, y)
    return constant - other_constant if terms == other_terms else None


def _linear(dims, scalar):
    """Return a sum of multiples of products of unknown sizes, and a constant."""
    node = scalar.owner
    op = None if node is None else getattr(node.op, "scalar_op", node.op)
    if isinstance(op, ScalarFromTensor | TensorFromScalar) or _is_widening(op, node):
        return _linear(dims, node.inputs[0])
    if isinstance(op, Add | Sub) and all(not v.type.ndim for v in node.inputs):
        terms, constant = Counter(), 0
        for position, variable in enumerate(node.inputs):
            sign = -1 if position and isinstance(op, Sub) else 1
            more, number = _linear(dims, variable)
            constant += sign * number
            for unknowns, factor in more.items():
                terms[unknowns] += sign * factor
        return Counter({key: factor for key, factor in terms.items() if factor}), constant
    size = dims.of(scalar)
    if size.is_fixed:
        return Counter(), size.factor
    return Counter({frozenset(size.unknowns.items()): size.factor}), 0


def _is_widening(op, node):
    return (
        isinstance(op, Cast)
        and node.outputs[0].type.dtype == "int64"
        and node.inputs[0].type.dtype.startswith("int")
    )
