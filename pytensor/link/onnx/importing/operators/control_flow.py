"""If, Loop and Scan."""

import numpy as np

import pytensor.tensor as pt
from pytensor.compile.builders import infer_shape
from pytensor.compile.ops import ViewOp
from pytensor.conditional import IfElse, ifelse
from pytensor.graph.replace import _vectorize_node, _vectorize_not_needed, graph_replace
from pytensor.graph.traversal import ancestors, graph_inputs
from pytensor.link.onnx.importing.alternatives import Either, of_rank
from pytensor.link.onnx.importing.registry import Refused, operator_funcify
from pytensor.link.onnx.importing.sizes import (
    DIMS,
    folded,
    known,
    positions,
    product,
    size,
    sizes,
    vector,
)
from pytensor.scan.basic import scan
from pytensor.scan.op import Scan
from pytensor.scan.utils import expand_empty, until
from pytensor.tensor.basic import constant
from pytensor.tensor.batching import lengths_of, shapes_differ
from pytensor.tensor.blockwise import vectorize_node_fallback
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.subtensor import Subtensor
from pytensor.tensor.type import TensorType

MOST_UNROLLED = 200  # iterations of a loop that are written out one by one
UNBOUNDED = 2**31 - 1  # exporters give trip counts from here on to loops that a condition ends


class ChangingShape(Refused):
    """What a loop carries doesn't keep its type, so that it can't be scanned."""


class KnownShape(Exception):
    """The first values of what is carried leave shapes open that the body tells."""

    def __init__(self, shapes):
        self.shapes = shapes


def one_element(variable, what):
    """Return a tensor of a single element as a scalar."""
    if any(length not in (1, None) for length in variable.type.shape):
        raise Refused(f"{what} must be one element, and has the shape {variable.type.shape}")
    return folded([variable.reshape(())])[0] if variable.type.ndim else variable


def known_scalar(variable):
    """Return the value of a tensor of a single element, or None."""
    value = known(variable)
    return None if value is None else value.reshape(()).item()


def _steady(node, graph, *inputs, condition=None):
    """Return the outputs of a body that may run any number of times."""
    before = len(node.importer.updates)
    outputs = node.importer.convert_body(graph, *inputs, condition=condition)
    if inputs:  # of a loop, not of an If
        declared = [None if v.shape is None else len(v.shape) for v in graph.outputs]
        outputs = [of_rank(v, ndim) for v, ndim in zip(outputs, declared, strict=True)]
    if len(node.importer.updates) > before:
        raise Refused(
            "its body draws random numbers or trains, which PyTensor does only in the main graph"
        )
    return outputs


@operator_funcify.register("If")
def if_(node, condition, *, else_branch, then_branch):
    condition = one_element(condition, "the condition")
    value = known_scalar(condition)
    if value is not None:
        return tuple(node.importer.convert_body(then_branch if value else else_branch))
    results = (
        _steady(node, then_branch, condition=condition),
        _steady(node, else_branch, condition=pt.invert(condition)),
    )
    if len(results[0]) != len(results[1]):
        raise Refused("its branches return {} and {} values".format(*map(len, results)))
    return tuple(_either(node, condition, *pair) for pair in zip(*results, strict=True))


def _either(node, condition, then, otherwise):
    if isinstance(then, Either) or isinstance(otherwise, Either):
        return Either(condition, then, otherwise, node.label)
    if isinstance(then, list) != isinstance(otherwise, list):
        raise Refused("one branch returns a sequence, the other a tensor")
    if isinstance(then, list):
        if len(then) != len(otherwise) or type(then) is not type(otherwise):
            raise Refused(
                f"its branches return sequences of {len(then)} and {len(otherwise)} tensors, and "
                f"PyTensor must know the length"
            )
        pairs = zip(then, otherwise, strict=True)
        return type(then)(_either(node, condition, *pair) for pair in pairs)
    a, b = then.type, otherwise.type
    if a.dtype != b.dtype:
        raise Refused(f"its branches return tensors of different dtypes: {a.dtype} and {b.dtype}")
    if a.ndim != b.ndim:
        return Either(condition, then, otherwise, node.label)
    return ifelse(condition, then, otherwise)


def _collected(body, others):
    """Return how many of a body's outputs are collected; the others come first."""
    if len(body.outputs) < others:
        raise Refused(f"its body has {len(body.outputs)} outputs, and needs at least {others}")
    return len(body.outputs) - others


@operator_funcify.register("Loop")
def loop(node, trips=None, condition=None, *carried, body):
    n_outputs = _collected(body, 1 + len(carried))
    trips, endless = _trips(trips, condition, n_outputs)
    sequences = any(isinstance(v, list) for v in carried)
    if not isinstance(trips, int):
        if sequences:
            raise Refused("it carries a sequence, and how often it runs must be known for that")
        return _scanned(node, body, trips, condition, carried, n_outputs, endless)
    if trips and not sequences:
        try:
            return _scanned(node, body, trips, condition, carried, n_outputs, endless)
        except ChangingShape:
            if trips > MOST_UNROLLED:
                raise
    if trips > MOST_UNROLLED:
        raise Refused(f"it carries a sequence through more than {MOST_UNROLLED} iterations")
    return _unrolled(node, body, trips, condition, carried, n_outputs)


def _trips(trips, condition, n_outputs):
    """Return how often a loop iterates at most, and whether only its condition ends it.

    The former is a number if that is known, else a scalar.
    """
    if trips is None and condition is None:
        raise Refused("it never ends: it has neither a trip count nor a condition")
    start = None if condition is None else one_element(condition, "the condition")
    goes_on = True if start is None else known_scalar(start)
    if goes_on is False:
        return 0, False
    trips = constant(np.int64(UNBOUNDED)) if trips is None else one_element(trips, "the trip count")
    number = known_scalar(trips)
    endless = number is not None and number >= UNBOUNDED
    if endless and n_outputs:
        raise Refused(
            "it collects values of an unknown number of iterations; give it a trip count that "
            "bounds them"
        )
    if number is not None and goes_on:
        return min(max(number, 0), UNBOUNDED), endless
    trips = pt.clip(trips, np.int64(0), np.int64(UNBOUNDED))
    return trips if goes_on else pt.switch(start, trips, np.int64(0)), endless


def _counted(body, i):
    """Return an iteration's number and its condition, which is true, in the shapes declared.

    tf2onnx makes them vectors of one element.
    """
    return [
        vector([x], x.type.dtype) if value.shape is not None and len(value.shape) else x
        for x, value in zip((i, constant(np.True_)), body.inputs, strict=False)
    ]


def _scanned(node, body, trips, condition, carried, n_outputs, endless):
    def step(i, *values):
        goes_on, *outputs = _steady(node, body, *_counted(body, i), *values)
        ends = condition is not None and known_scalar(goes_on) is not True
        if isinstance(trips, int) and trips <= MOST_UNROLLED and not ends:
            _refuse_other_lengths(values, outputs[: len(values)])
        values = _of_types(values, outputs[: len(values)])
        outputs = [*([] if numbers else [i + 1]), *values, *outputs[len(values) :]]
        return (outputs, until(~one_element(goes_on, "the condition"))) if ends else outputs

    start = constant(np.int64(0))
    # Known before, for jax_mode: it knows then that slices at them have one length
    numbers = [positions(trips)] if isinstance(trips, int) and not endless else []
    states = carried if numbers else (start, *carried)
    outside = node.importer.outside(body)
    results = _iterate(step, states, n_outputs, trips, outside, numbers, endless)
    results = results[not numbers :]

    def rows(i, *values):
        return _steady(node, body, *_counted(body, i), *values)[1 + len(carried) :]

    last, outputs = results[: len(carried)], results[len(carried) :]
    if not isinstance(trips, int):
        outputs = _sized(outputs, trips, (start, *carried), rows)
    return (*last, *outputs)


def _unrolled(node, body, trips, condition, carried, n_outputs):
    if not trips:
        results = node.importer.convert_body(body, *_counted(body, constant(np.int64(0))), *carried)
        outputs = results[len(results) - n_outputs :] if n_outputs else []
        none = constant(np.int64(0))
        return (*carried, *(pt.zeros((none, *sizes(v)), dtype=v.type.dtype) for v in outputs))
    collected = []
    for i in range(trips):
        results = node.importer.convert_body(body, *_counted(body, constant(np.int64(i))), *carried)
        goes_on, carried = known_scalar(results[0]), results[1 : 1 + len(carried)]
        collected.append(results[len(results) - n_outputs :])
        if condition is not None and goes_on is None:
            raise Refused(
                "what it carries changes its shape or is a sequence, and whether it goes on is "
                "computed when the model runs"
            )
        if condition is not None and not goes_on:
            break
    return (*carried, *(pt.stack(values) for values in zip(*collected, strict=True)))


def _refuse_other_lengths(before, after):
    """Raise ChangingShape if values of one length, as all open axes of the model, get another."""
    inputs = [v for v in {*before, *graph_inputs(after)} if isinstance(v.type, TensorType)]
    given = [[constant(np.int64(7 if n is None else n)) for n in v.type.shape] for v in inputs]
    try:
        lengths = [folded([*row]) for row in infer_shape(after, inputs, given)]
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError):
        return  # the model's lengths aren't all the same
    for old, row in zip(before, lengths, strict=True):
        for n, length in zip(old.type.shape, row, strict=True):
            if n is None and known(length) not in (None, 7):
                raise ChangingShape(f"the length of a value that it carries changes: {old.type}")


def _of_types(before, after):
    """Return the new values of what a loop carries, which must have the shapes of the old ones."""
    for old, new in zip(before, after, strict=True):
        a, b = old.type, new.type
        if a.dtype != b.dtype or shapes_differ(a.shape, b.shape):
            raise ChangingShape(
                f"a value that it carries changes from {a.dtype} of shape {a.shape} to {b.dtype} "
                f"of shape {b.shape}; PyTensor's loops carry values of one shape"
            )
    known_before = [v.type.shape for v in before]
    shapes = [
        tuple(m if n is None else n for n, m in zip(shape, new.type.shape, strict=True))
        for shape, new in zip(known_before, after, strict=True)
    ]
    if shapes != known_before:
        raise KnownShape(shapes)
    return [
        new if None not in new.type.shape else specify_shape(new, lengths_of(old))
        for old, new in zip(before, after, strict=True)
    ]


def _iterate(step, carried, n_outputs, trips, outside, sequences=(), endless=False):
    """Return the last values of what is carried, and each output's values in all iterations.

    `outside` are variables that the body reads: what they are computed from is computed once.
    """
    whole, read = True, {}
    known_outside = {v for v in ancestors(outside) if v.owner is not None}

    def watched(*values):
        nonlocal whole
        outputs = step(*values)
        whole = isinstance(outputs, list)  # without a condition that ends it
        variables, end = (outputs, []) if whole else (outputs[0], [outputs[1].condition])
        found = [v for v in ancestors([*variables, *end], known_outside) if v in known_outside]
        read.update((v, v.type(v.name)) for v in found if v not in read)
        replaced = graph_replace([*variables, *end], read, strict=False)
        return replaced if whole else (replaced[:-1], until(replaced[-1]))

    # A number would become part of the buffers' types
    number = pt.scalar("trips", dtype="int64") if endless else trips
    try:
        results = scan(
            watched,
            sequences=list(sequences),
            outputs_info=[*carried, *[None] * n_outputs],
            n_steps=number,
            return_list=True,
            return_updates=False,
        )
    except KnownShape as found:
        counters = len(carried) - len(found.shapes)
        values = map(specify_shape, carried[counters:], found.shapes)
        carried = [*carried[:counters], *values]
        return _iterate(step, carried, n_outputs, trips, outside, sequences, endless)
    last = [last_state(v, endless) for v in results[: len(carried)]]
    if endless and not isinstance(trips, int):  # without an iteration, the last entry is empty
        pairs = zip(last, carried, strict=True)
        last = [pt.switch(pt.gt(trips, np.int64(0)), *pair) for pair in pairs]
    outputs = results[len(carried) :]
    if whole and isinstance(trips, int):
        # Scan's type leaves open how many there are
        outputs = [specify_shape(x, (trips, *[None] * (x.type.ndim - 1))) for x in outputs]
    again = {inner: v for v, inner in read.items()}
    if endless:
        again[number] = constant(np.int64(trips)) if isinstance(trips, int) else trips
    return graph_replace([*last, *outputs], again, strict=False)


def last_state(values, endless=False):
    """Return the last of a scan's values, or that before the first iteration if there was none."""
    op = values.owner.op
    buffer = values.owner.inputs[0]
    if not (isinstance(op, Subtensor) and buffer.owner and isinstance(buffer.owner.op, Scan)):
        return values[-1]
    if not endless:
        return buffer[-1]
    # What is carried gets a buffer of two entries, in the place of one for each possible iteration
    buffers = buffer.owner.op.outer_sitsot(buffer.owner.inputs)
    initial = {v: expand_empty(v.owner.inputs[1], 1) for v in buffers}
    return without_gradient(graph_replace(buffer, initial, strict=False)[-1])


class WithoutGradient(ViewOp):
    """The identity of a result that can't be differentiated."""

    def connection_pattern(self, node):
        return [[True]]

    def pullback(self, inputs, outputs, cotangents):
        raise NotImplementedError(
            "the gradient of a loop that only its condition ends needs the values of all "
            "iterations; give the loop a trip count"
        )


without_gradient = WithoutGradient()
_vectorize_node.register(WithoutGradient, _vectorize_not_needed)


@_vectorize_node.register(IfElse)
def vectorize_if(op, node, *inputs):
    """Choose once for a whole batch; of a batch of conditions, compute both branches."""
    ndims = [v.type.ndim for v in node.inputs]
    axes = max(v.type.ndim - ndim for v, ndim in zip(inputs, ndims, strict=True))
    condition, *values = (
        pt.shape_padleft(v, axes + ndim - v.type.ndim)
        for v, ndim in zip(inputs, ndims, strict=True)
    )
    if inputs[0].type.ndim:
        pairs = zip(values[: op.n_outs], values[op.n_outs :], strict=True)
        return [
            pt.switch(pt.shape_padright(condition, then.type.ndim - axes), then, otherwise)
            for then, otherwise in pairs
        ]
    lengths = [lengths_of(v) for v in values]
    batch = pt.broadcast_shape(*(tuple(own[:axes]) for own in lengths), arrays_are_shapes=True)
    shapes = [(*batch, *own[axes:]) for own in lengths]
    return op.make_node(inputs[0], *map(pt.broadcast_to, values, shapes))


@_vectorize_node.register(Scan)
def vectorize_loop(op, node, *inputs):
    """Repeat a loop for each of a batch, whose entries have the lengths that its types know.

    Without them PyTensor refuses a loop whose step has a type that says more.
    """

    def known(v, own):
        if not isinstance(own.type, TensorType):
            return v
        return specify_shape(v, (*[None] * (v.type.ndim - own.type.ndim), *own.type.shape))

    return vectorize_node_fallback(op, node, *map(known, inputs, node.inputs))


def _sized(outputs, trips, inputs, rows):
    """Return collected values with an iteration's shape, which a scan of no iterations loses.

    `rows` makes an iteration's values from variables like `inputs`.
    """
    inside, shapes = {}, [x.type.shape[1:] for x in outputs]
    if any(None in shape for shape in shapes):
        inside = {v.type(): v for v in inputs}
        shapes = [[_outside(n, inside) for n in sizes(row)] for row in rows(*inside)]
    return [
        x if None in shape or not shape
        else ifelse(pt.gt(trips, 0), x, pt.zeros((0, *shape), dtype=x.type.dtype))
        for x, shape in zip(outputs, shapes, strict=True)
    ]  # fmt: skip


def _outside(length, inside):
    """Return a length in a body as a function of what the body is given; None if it isn't one."""
    whole, found = DIMS.of(length), []
    for unknown in whole.unknowns.elements():
        if not isinstance(unknown, tuple):
            found.append(unknown)
            continue
        x, axis = unknown
        if x not in inside and not inside.keys().isdisjoint(ancestors([x])):
            return None
        found.append(size(inside.get(x, x), axis))
    if any(not inside.keys().isdisjoint(ancestors([v])) for v in found):
        return None
    number = [] if found and whole.factor == 1 else [constant(np.int64(whole.factor))]
    return product([*number, *found])


@operator_funcify.register("Scan")
def scan_(
    node,
    *inputs,
    body,
    num_scan_inputs,
    scan_input_axes=None,
    scan_input_directions=None,
    scan_output_axes=None,
    scan_output_directions=None,
):
    if not 1 <= num_scan_inputs <= len(inputs):
        raise Refused(f"its num_scan_inputs is {num_scan_inputs}, and it has {len(inputs)} inputs")
    directions = [scan_input_directions or [], scan_output_directions or []]
    if set().union(*directions) - {0, 1}:
        raise Refused("its directions are {} and {}; there are 0 and 1".format(*directions))
    first = len(inputs) - num_scan_inputs
    states, sequences = inputs[:first], inputs[first:]
    _collected(body, len(states))
    sequences = [
        pt.moveaxis(x, axis, 0)[:: -1 if backward else 1]
        for x, axis, backward in _each(sequences, scan_input_axes, scan_input_directions)
    ]
    results = _over_elements(node, body, states, sequences)
    made = results[len(states) :]
    outputs = [
        pt.moveaxis(x[:: -1 if backward else 1], 0, axis)
        for x, axis, backward in _each(made, scan_output_axes, scan_output_directions)
    ]
    return (*results[: len(states)], *outputs)


def _each(values, *attributes):
    """Return each value with its entry of each attribute, 0 for an attribute that is left out."""
    zeros = [0] * len(values)
    return zip(values, *(zeros if given is None else given for given in attributes), strict=True)


def _over_elements(node, body, states, sequences, runs=None):
    """Return the last states, and what a body makes of each element of sequences' first axes.

    Where `runs` is false, which is a sequence too, states stay, and what is collected is 0.
    """
    n = len(sequences)
    n_outputs = _collected(body, len(states))

    def step(*values):
        counts, values = (values[:1], values[1:]) if runs is not None else ([], values)
        outputs = _steady(node, body, *values[n:], *values[:n])
        before, after = values[n:], outputs[: len(states)]
        for holds in counts:
            after = [pt.switch(holds, *pair) for pair in zip(after, before, strict=True)]
            made = [pt.switch(holds, x, x.zeros_like()) for x in outputs[len(states) :]]
            outputs = [*after, *made]
        after = _of_types(before, after)
        return [*after, *outputs[len(after) :]]

    trips, sequences = _of_one_length([*([] if runs is None else [runs]), *sequences])
    return _iterate(step, states, n_outputs, trips, node.importer.outside(body), sequences)


@operator_funcify.register("Scan", before=9)
def scan_of_batches(node, lengths, *inputs, body, directions=None, num_scan_inputs):
    """Scan the second axis for each entry of the first."""
    n = num_scan_inputs
    n_states = len(inputs) - n

    def step(*values):
        states, sequences = values[:n_states], values[n_states : n_states + n]
        if lengths is None:
            turned = [x[:: -1 if back else 1] for x, back in _each(sequences, directions)]
            return _over_elements(node, body, states, turned)
        number = values[-1]
        t = pt.arange(sequences[0].shape[0])
        last = pt.maximum(number - 1, 0)
        # No step reads what follows a sequence: it may be anything
        places = [pt.minimum(t, last), pt.maximum(last - t, 0)]
        elements = [x[places[back]] for x, back in _each(sequences, directions)]
        return _over_elements(node, body, states, elements, t < number)

    batches = [*inputs] if lengths is None else [*inputs, lengths]
    size_, batches = _of_one_length(batches)
    return tuple(_iterate(step, (), len(body.outputs), size_, node.importer.outside(body), batches))


def _of_one_length(sequences):
    """Return the length of sequences, which must be the same for all, and the sequences."""
    static = {x.type.shape[0] for x in sequences} - {None}
    if len(static) > 1:
        raise Refused(f"the inputs that it scans have different lengths: {sorted(static)}")
    length = static.pop() if static else sequences[0].shape[0]
    others = [
        specify_shape(x, (length, *[None] * (x.type.ndim - 1))) if x.type.shape[0] is None else x
        for x in sequences[1:]
    ]
    return length, [sequences[0], *others]
