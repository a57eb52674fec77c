import sys

from pytensor.graph.fg import FunctionGraph
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dims import Dims
from pytensor.link.onnx.dispatch.loops import Loop, lookbacks, lower_scan, window_start
from pytensor.link.onnx.write.term import Term, concat
from pytensor.scan.op import Scan
from pytensor.tensor.rewriting.shape import ShapeFeature


@onnx_funcify.register(Scan)
def onnx_funcify_Scan(op, node, n_steps, *inputs):
    variables = [variable.type() for variable in node.inputs]
    scan = op.make_node(*variables)
    fgraph = FunctionGraph(variables, scan.outputs, clone=False)
    fgraph.attach_feature(ShapeFeature())
    lower_scan(fgraph, scan, op.fgraph.unfreeze())
    return n_steps.builder.inline(fgraph, (n_steps, *inputs))


@onnx_funcify.register(Loop)
def onnx_funcify_Loop(op, node, *inputs):
    return LoopWriter(op, node, inputs).write()


class Window:
    """The entries of a mit-mot's buffer that one step reads or writes.

    `lowest` is the first one's tap, `start` where in the buffer it is at the first step, and
    `enters` whether the last one is the buffer's own, not one that the step writes.
    """

    def __init__(self, taps, targets):
        used = (*taps, *targets)
        self.taps = taps
        self.targets = targets
        self.lowest = min(used)
        self.size = max(used) - self.lowest + 1
        self.start = window_start(taps) + self.lowest
        self.enters = max(used) in taps


class LoopWriter:
    """Writes one `Loop`.

    Of each recurrence the last values are carried, as many as its taps reach back, and the new
    ones are collected.  Of a buffer with several outputs per step (mit-mot) a step sees a window,
    which moves on by one entry: what stays in it is carried, the entry that comes in is read from
    the buffer, and the one that leaves is collected.
    """

    def __init__(self, op, node, inputs):
        self.op = op
        self.info = op.info
        self.builder = inputs[0].builder
        self.terms = op.grouped(inputs)
        self.variables = op.grouped(node.inputs)
        self.windows = [
            Window(*slices)
            for slices in zip(
                self.info.mit_mot_in_slices, self.info.mit_mot_out_slices, strict=True
            )
        ]
        self.depths = lookbacks(self.info)
        self.taps = (*self.info.mit_sot_in_slices, *self.info.sit_sot_in_slices)

    def write(self):
        builder = self.builder
        n_steps = self.terms.n_steps.cast("int64")
        state = self.initial_state()
        with builder.subgraph() as body:
            generators = self.write_step()
        # A Loop without a condition ignores that of its body
        goes_on = builder.constant(True) if self.info.as_while else None
        results = builder.node("Loop", n_steps, goes_on, *state, body=body)
        return self.outputs(iter(results), generators, n_steps)

    def initial_state(self):
        """Return what is carried, in order: windows, recurrences, untraced states and a counter."""
        state = []
        for buffer, window in zip(self.terms.mit_mots, self.windows, strict=True):
            state += [buffer.gather(window.start + i) for i in range(window.size - 1)]
        for first, depth in zip(self.terms.initial, self.depths, strict=True):
            state += [first.gather(i) for i in range(depth)]
        state += [value for value in self.terms.untraced if isinstance(value, Term)]
        if self.info.as_while:
            state.append(self.builder.constant(0, "int64"))
        return state

    def write_step(self):
        """Write the body; returns the untraced states after it, of which some are generators."""
        builder, info = self.builder, self.info
        step = builder.input("step", "int64", ())
        running = builder.input("running", "bool", ())
        windows, pasts, untraced = self.states(step)
        count = builder.input("count", "int64", ()) if info.as_while else None
        results = self.results_of_step(step, windows, pasts, untraced)
        for window, entries in zip(self.windows, windows, strict=True):
            for tap in window.targets:
                entries[tap - window.lowest], _ = next(results)
        recurrent = [next(results) for _ in pasts]
        collected = [next(results) for _ in range(info.n_nit_sot)]
        untraced = [next(results) for _ in untraced]

        if info.as_while:
            until, _ = next(results)
            running = ~until.cast("bool")
        builder.output(running, ())
        for entries, buffer in zip(windows, self.variables.mit_mots, strict=True):
            for term in entries[1:]:
                builder.output(term, buffer.type.shape[1:])
        for past, (new, _), first in zip(pasts, recurrent, self.variables.initial, strict=True):
            for term in [*past[1:], new]:
                builder.output(term, first.type.shape[1:])
        for value, variable in untraced:
            if isinstance(value, Term):
                builder.output(value, variable.type.shape)
        if count is not None:
            builder.output(count + 1, ())
        for entries, buffer in zip(windows, self.variables.mit_mots, strict=True):
            builder.output(entries[0], buffer.type.shape[1:])
        for term, variable in (*recurrent, *collected):
            builder.output(term, variable.type.shape)
        return [value for value, _ in untraced]

    def states(self, step):
        """Declare what the body is given: entries of windows, past values and untraced states."""
        windows = [
            self.window_inputs(step, *pair)
            for pair in zip(self.windows, self.terms.mit_mots, self.variables.mit_mots, strict=True)
        ]
        pasts = [
            [self.state_input(first) for _ in range(depth)]
            for first, depth in zip(self.variables.initial, self.depths, strict=True)
        ]
        untraced = [
            self.untraced_input(*types) if isinstance(value, Term) else value
            for value, *types in zip(
                self.terms.untraced,
                self.variables.untraced,
                self.op.inner_untraced_sit_sot_outs(self.op.fgraph.outputs),
                strict=True,
            )
        ]
        return windows, pasts, untraced

    def results_of_step(self, step, windows, pasts, untraced):
        """Convert the graph of a step; an iterator of its outputs' values and variables."""
        arguments = [seq.gather(step) for seq in self.terms.seqs]
        for window, entries in zip(self.windows, windows, strict=True):
            arguments += [entries[tap - window.lowest] for tap in window.taps]
        for past, taps in zip(pasts, self.taps, strict=True):
            arguments += [past[tap] for tap in taps]
        outputs = self.inline([*arguments, *untraced, *self.terms.non_seqs])
        return iter(zip(outputs, self.op.fgraph.outputs, strict=True))

    def inline(self, arguments):
        """Convert the graph of a step, with what is known of its own sizes."""
        builder = self.builder
        outer, builder.dims = builder.dims, Dims(getattr(self.op.fgraph, "shape_feature", None))
        try:
            return builder.inline(self.op.fgraph, arguments)
        finally:
            builder.dims = outer

    def window_inputs(self, step, window, buffer, variable):
        entries = [self.state_input(variable) for _ in range(window.size - 1)]
        if not window.enters:
            return [*entries, None]
        return [*entries, buffer.gather(step + (window.start + window.size - 1))]

    def state_input(self, variable):
        """Declare an entry of a buffer or of the initial values."""
        return self.builder.input("state", variable.type.dtype, variable.type.shape[1:])

    def untraced_input(self, first, new):
        shape = [
            size if size == later else None
            for size, later in zip(first.type.shape, new.type.shape, strict=True)
        ]
        return self.builder.input("state", first.type.dtype, tuple(shape))

    def outputs(self, results, generators, n_steps):
        """Return the Loop's outputs, from the ONNX node's outputs."""

        def take(count):
            return [next(results) for _ in range(count)]

        ends = [take(window.size - 1) for window in self.windows]
        take(sum(self.depths))
        untraced = [next(results) if isinstance(value, Term) else value for value in generators]
        steps = next(results) if self.info.as_while else n_steps
        buffers = [
            self.buffer_after(*parts, steps)
            for parts in zip(
                self.terms.mit_mots,
                self.variables.mit_mots,
                self.windows,
                take(len(self.windows)),
                ends,
                strict=True,
            )
        ]
        traces = [
            with_inner_shape(*parts, steps)
            for parts in zip(
                take(len(self.depths)), self.terms.initial, self.variables.initial, strict=True
            )
        ]
        return (*buffers, *traces, *results, *untraced, steps)

    def buffer_after(self, buffer, variable, window, left, end, steps):
        """Return what was before the window, what left it, what is in it, and what is after it."""
        parts = [buffer.slice(0, window.start, 0)] if window.start else []
        parts.append(with_inner_shape(left, buffer, variable, steps))
        parts += [term.unsqueeze(0) for term in end]
        start = (steps + (window.start + window.size - 1)).reshape([1])
        parts.append(buffer.slice(start, sys.maxsize, 0))
        return concat(parts)


def with_inner_shape(trace, whole, variable, steps):
    """Give a result of no steps the sizes, but the first, of `whole`; others have them."""
    known = steps.data
    if None not in variable.type.shape[1:] or (known is not None and known > 0):
        return trace
    return trace.reshape(concat([steps.reshape([1]), whole.sizes(1)]))
