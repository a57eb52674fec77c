import sys

from pytensor.graph.fg import FunctionGraph
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dims import Dims
from pytensor.link.onnx.dispatch.loops import Loop, lookbacks, lower_scans, window_start
from pytensor.link.onnx.write.builder import as_tuple
from pytensor.scan.op import Scan
from pytensor.tensor.rewriting.shape import ShapeFeature


@onnx_funcify.register(Scan)
def onnx_funcify_Scan(op, node, builder, *inputs):
    variables = [variable.type() for variable in node.inputs]
    fgraph = FunctionGraph(variables, op.make_node(*variables).outputs, clone=False)
    fgraph.attach_feature(ShapeFeature())
    lower_scans(fgraph)
    return builder.inline(fgraph, inputs)


@onnx_funcify.register(Loop)
def onnx_funcify_Loop(op, node, builder, *inputs):
    return LoopWriter(op, node, builder, inputs).write()


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

    def __init__(self, op, node, builder, inputs):
        self.op = op
        self.info = op.info
        self.builder = builder
        self.names = op.grouped(inputs)
        self.variables = op.grouped(node.inputs)
        self.windows = [
            Window(*slices)
            for slices in zip(
                self.info.mit_mot_in_slices, self.info.mit_mot_out_slices, strict=True
            )
        ]
        self.depths = lookbacks(self.info)
        self.taps = (*self.info.mit_sot_in_slices, *self.info.sit_sot_in_slices)
        self.is_tensor = [hasattr(v.type, "dtype") for v in self.variables.untraced]

    def write(self):
        builder = self.builder
        dtype = self.variables.n_steps.type.dtype
        n_steps = builder.cast(self.names.n_steps, dtype, "int64")
        state = self.initial_state()
        with builder.subgraph() as body:
            n_collected, keys = self.write_step(body)
        results = builder.add(
            "Loop", n_steps, "", *state, body=body, n_outputs=len(state) + n_collected
        )
        return self.outputs(iter(as_tuple(results)), keys, n_steps)

    def initial_state(self):
        """Return what is carried, in order: windows, recurrences, untraced states and a counter."""
        state = []
        for buffer, window in zip(self.names.mit_mots, self.windows, strict=True):
            state += [self.entry(buffer, window.start + i) for i in range(window.size - 1)]
        for first, depth in zip(self.names.initial, self.depths, strict=True):
            state += [self.entry(first, i) for i in range(depth)]
        state += [
            name for name, kept in zip(self.names.untraced, self.is_tensor, strict=True) if kept
        ]
        if self.info.as_while:
            state.append(self.builder.constant(0, "int64"))
        return state

    def entry(self, name, position):
        return self.builder.add("Gather", name, self.builder.constant(position, "int64"), axis=0)

    def write_step(self, body):
        """Write the body; returns how many values are collected, and keys of random states."""
        builder, info = self.builder, self.info
        step = body.add_input("step", "int64", ())
        running = body.add_input("running", "bool", ())
        windows, pasts, untraced = self.states(body, step)
        count = body.add_input("count", "int64", ()) if info.as_while else None
        results = self.results_of_step(step, windows, pasts, untraced)
        for window, entries in zip(self.windows, windows, strict=True):
            for tap in window.targets:
                entries[tap - window.lowest], _ = next(results)
        recurrent = [next(results) for _ in pasts]
        collected = [next(results) for _ in range(info.n_nit_sot)]
        untraced = [next(results) for _ in untraced]

        if info.as_while:
            until, variable = next(results)
            running = builder.add("Not", builder.cast(until, variable.type.dtype, "bool"))
        builder.output(running, "bool", ())
        for entries, buffer in zip(windows, self.variables.mit_mots, strict=True):
            for name in entries[1:]:
                self.state_output(name, buffer)
        for past, (new, _), first in zip(pasts, recurrent, self.variables.initial, strict=True):
            for name in [*past[1:], new]:
                self.state_output(name, first)
        for (name, variable), kept in zip(untraced, self.is_tensor, strict=True):
            if kept:
                builder.output(name, variable.type.dtype, variable.type.shape)
        if count is not None:
            one = builder.constant(1, "int64")
            builder.output(builder.add("Add", count, one), "int64", ())
        for entries, buffer in zip(windows, self.variables.mit_mots, strict=True):
            self.state_output(entries[0], buffer)
        for name, variable in (*recurrent, *collected):
            builder.output(name, variable.type.dtype, variable.type.shape)
        return len(windows) + len(recurrent) + len(collected), [name for name, _ in untraced]

    def states(self, body, step):
        """Declare what the body is given: entries of windows, past values and untraced states."""
        windows = [
            self.window_inputs(body, step, *pair)
            for pair in zip(self.windows, self.names.mit_mots, self.variables.mit_mots, strict=True)
        ]
        pasts = [
            [self.state_input(body, first) for _ in range(depth)]
            for first, depth in zip(self.variables.initial, self.depths, strict=True)
        ]
        untraced = [
            self.untraced_input(body, *types) if kept else name
            for name, kept, *types in zip(
                self.names.untraced,
                self.is_tensor,
                self.variables.untraced,
                self.op.inner_untraced_sit_sot_outs(self.op.fgraph.outputs),
                strict=True,
            )
        ]
        return windows, pasts, untraced

    def results_of_step(self, step, windows, pasts, untraced):
        """Convert the graph of a step; an iterator of its outputs' names and variables."""
        arguments = [self.builder.add("Gather", seq, step, axis=0) for seq in self.names.seqs]
        for window, entries in zip(self.windows, windows, strict=True):
            arguments += [entries[tap - window.lowest] for tap in window.taps]
        for past, taps in zip(pasts, self.taps, strict=True):
            arguments += [past[tap] for tap in taps]
        outputs = self.inline([*arguments, *untraced, *self.names.non_seqs])
        return iter(zip(outputs, self.op.fgraph.outputs, strict=True))

    def inline(self, arguments):
        """Convert the graph of a step, with what is known of its own sizes."""
        builder = self.builder
        outer, builder.dims = builder.dims, Dims(getattr(self.op.fgraph, "shape_feature", None))
        try:
            return builder.inline(self.op.fgraph, arguments)
        finally:
            builder.dims = outer

    def window_inputs(self, body, step, window, buffer, variable):
        entries = [self.state_input(body, variable) for _ in range(window.size - 1)]
        if not window.enters:
            return [*entries, None]
        last = self.builder.constant(window.start + window.size - 1, "int64")
        position = self.builder.add("Add", step, last)
        return [*entries, self.builder.add("Gather", buffer, position, axis=0)]

    def state_input(self, body, variable):
        """Declare an entry of a buffer or of the initial values."""
        return body.add_input("state", variable.type.dtype, variable.type.shape[1:])

    def state_output(self, name, variable):
        self.builder.output(name, variable.type.dtype, variable.type.shape[1:])

    def untraced_input(self, body, first, new):
        shape = [
            size if size == later else None
            for size, later in zip(first.type.shape, new.type.shape, strict=True)
        ]
        return body.add_input("state", first.type.dtype, shape)

    def outputs(self, results, keys, n_steps):
        """Return names of the Loop's outputs, from those of the ONNX node."""

        def take(count):
            return [next(results) for _ in range(count)]

        ends = [take(window.size - 1) for window in self.windows]
        take(sum(self.depths))
        untraced = [
            next(results) if kept else key for key, kept in zip(keys, self.is_tensor, strict=True)
        ]
        steps = next(results) if self.info.as_while else n_steps
        buffers = [
            self.buffer_after(*parts, steps)
            for parts in zip(
                self.names.mit_mots,
                self.variables.mit_mots,
                self.windows,
                take(len(self.windows)),
                ends,
                strict=True,
            )
        ]
        traces = [
            self.with_inner_shape(*parts, steps)
            for parts in zip(
                take(len(self.depths)), self.names.initial, self.variables.initial, strict=True
            )
        ]
        return (*buffers, *traces, *results, *untraced, steps)

    def with_inner_shape(self, trace, whole, variable, steps):
        """Give a result of no steps the sizes, but the first, of `whole`; others have them."""
        known = self.builder.constant_value(steps)
        if None not in variable.type.shape[1:] or (known is not None and known > 0):
            return trace
        builder = self.builder
        inner = builder.add("Shape", whole, start=1)
        length = builder.add("Reshape", steps, builder.int64s([1]))
        return builder.add(
            "Reshape", trace, builder.add("Concat", length, inner, axis=0), allowzero=1
        )

    def buffer_after(self, buffer, variable, window, left, end, steps):
        """Return what was before the window, what left it, what is in it, and what is after it."""
        builder, axes = self.builder, self.builder.int64s([0])
        parts = []
        if window.start:
            bounds = builder.int64s([0]), builder.int64s([window.start])
            parts.append(builder.add("Slice", buffer, *bounds, axes))
        parts.append(self.with_inner_shape(left, buffer, variable, steps))
        parts += [builder.add("Unsqueeze", name, axes) for name in end]
        after = builder.constant(window.start + window.size - 1, "int64")
        start = builder.add("Reshape", builder.add("Add", steps, after), builder.int64s([1]))
        far = builder.int64s([sys.maxsize])
        parts.append(builder.add("Slice", buffer, start, far, axes))
        return builder.add("Concat", *parts, axis=0)
