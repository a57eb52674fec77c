"""Loops with known lengths within, by a condition, and with unequal steps."""

from functools import partial
from itertools import count

import jax
import jax.numpy as jnp
import numpy as np

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.fixes.known_while_tracing import is_known
from pytensor.link.jax.mode.conversion import (
    GraphWithConverter,
    with_graph,
    with_known_within,
)
from pytensor.link.jax.rewriting.find_sizes import (
    choice_inputs,
    deciding_inputs,
    known_places_of_scan,
    length_inputs,
)
from pytensor.link.jax.rewriting.host_integers import as_known
from pytensor.link.jax.rewriting.windows import windows_of_steps
from pytensor.scan.op import Scan


@corrected_funcify.register(Scan)
def corrected_funcify_Scan(op, node, convert_node, **kwargs):
    deciding = {*length_inputs(op, node), *choice_inputs(op, node)}
    within = {i: k for i, k in known_places_of_scan(op).items() if k in deciding}
    sequences = {i: k for i, k in within.items() if i < op.info.n_seqs}
    fixed = {i: k for i, k in within.items() if i not in sequences}

    def converted(known, fgraph=op.fgraph):
        graph = GraphWithConverter(fgraph, convert_node, known)
        if op.info.as_while:
            return while_loop(op, node, jax_funcify(graph, **kwargs))
        scan = with_rows_of_zeros(op, jax_funcify(with_graph(op, graph), node=node, **kwargs))

        def scanned(*inputs):
            results = scan(*inputs)
            # The trace of no steps was joined to the first states, as in `corrected_funcify_Join`.
            return results if int(inputs[0]) else jax.lax.optimization_barrier(results)

        return scanned

    def called(*inputs):
        if not int(inputs[0]):
            return results_of_no_steps(op, node, inputs)
        windows = graph_of_windows(op, inputs)
        if windows is not None:
            return with_known_within(fixed, partial(converted, fgraph=windows))(*inputs)
        steps = {i: np.asarray(inputs[k]) for i, k in sequences.items()}
        known = {i: inputs[k] for i, k in fixed.items()}
        # A loop of Python's, in which JAX traces the steps one by one.
        with jax.ensure_compile_time_eval():
            step = jax_funcify(GraphWithConverter(op.fgraph, convert_node, known), **kwargs)
        new = with_graph(op, StepsInPython(op.fgraph, step, steps))
        with jax.disable_jit():
            return with_rows_of_zeros(op, jax_funcify(new, node=node, **kwargs))(*inputs)

    return called if sequences else with_known_within(within, converted)


def with_rows_of_zeros(op, scan):
    """Return a `Scan`'s function that adds rows of zeros where it is to have more rows than steps.

    A gradient with `truncate_gradient` has them; PyTensor's conversion ends in an AssertionError:
    thoughts/upstream/jax-truncated-gradients.md.
    """

    def scanned(*inputs):
        inputs, places = list(inputs), op.outer_nitsot(range(len(inputs)))
        missing = [max(inputs[k] - inputs[0], 0) for k in places]
        if not any(missing):
            return scan(*inputs)
        for k, n in zip(places, missing, strict=True):
            inputs[k] -= n
        results = scan(*inputs)
        results = list(results) if isinstance(results, list | tuple) else [results]
        for k, n in zip(op.outer_nitsot_outs(range(len(results))), missing, strict=True):
            zeros = jnp.zeros((n, *results[k].shape[1:]), results[k].dtype)
            results[k] = jnp.concatenate([results[k], zeros])
        return results if len(results) > 1 else results[0]

    return scanned


def while_loop(op, node, step):
    """Return the function of a `Scan` that a condition ends.

    `step` is the function of its inner graph.  The number of steps may be traced.  Arrays with a
    row for each step are returned as long as they are given; the rest of them stays as it is.
    """
    info = op.info
    taps_in = [*info.normalized_mit_mot_in_slices]
    taps_out = [*info.normalized_mit_mot_out_slices]
    for taps in (*info.mit_sot_in_slices, *info.sit_sot_in_slices):
        taps_in.append(tuple(tap - min(taps) for tap in taps))
        taps_out.append((-min(taps),))

    def loop(*outer):
        outer = list(outer)
        n_steps, sequences, constants = outer[0], op.outer_seqs(outer), op.outer_non_seqs(outer)
        arrays = [*op.outer_mitmot(outer), *op.outer_mitsot(outer), *op.outer_sitsot(outer)]
        lengths = op.outer_nitsot(outer)
        if not all([*map(len, sequences), *lengths]):
            return results_of_no_steps(op, node, outer)
        start = jax.tree.map(jnp.asarray, [arrays, op.outer_untraced_sit_sot(outer)])

        def stepped(i, arrays, states):
            """Return what a step writes to arrays, its other rows, new states, and if it ends."""
            now = [jax.lax.dynamic_index_in_dim(s, i, keepdims=False) for s in sequences]
            # An array that is read nowhere may have been made shorter, to be written over.
            rows = [
                jax.lax.dynamic_index_in_dim(array, (i + tap) % len(array), keepdims=False)
                for array, taps in zip(arrays, taps_in, strict=True)
                for tap in taps
            ]
            new = iter(step(*now, *rows, *states, *constants))
            written = [[next(new) for _ in taps] for taps in taps_out]
            made = [next(new) for _ in range(info.n_nit_sot)]
            return written, made, [next(new) for _ in states], jnp.asarray(next(new), bool)

        def goes_on(carry):
            i, done, *_ = carry
            return (i < n_steps) & ~done

        def body(carry):
            i, _, arrays, states, others = carry
            written, made, states, done = stepped(i, arrays, states)
            arrays = [
                put_rows(array, [(i + tap) % len(array) for tap in taps], rows)
                for array, taps, rows in zip(arrays, taps_out, written, strict=True)
            ]
            others = [put_rows(a, [i % len(a)], [row]) for a, row in zip(others, made, strict=True)]
            return i + 1, done, arrays, states, others

        i = jnp.asarray(0)
        rows = jax.eval_shape(stepped, i, *start)[1]
        others = [jnp.zeros((n, *v.shape), v.dtype) for n, v in zip(lengths, rows, strict=True)]
        last = jax.lax.while_loop(goes_on, body, (i, jnp.asarray(False), *start, others))
        results = [*last[2], *last[4], *last[3]]
        return results[0] if len(results) == 1 else results

    return loop


def put_rows(array, places, rows):
    """Return an array with other rows at some places."""
    for place, row in zip(places, rows, strict=True):
        array = jax.lax.dynamic_update_index_in_dim(array, row.astype(array.dtype), place, 0)
    return array


def graph_of_windows(op, inputs):
    """Return the inner graph of a `Scan` with windows, if they lie inside in all steps; else None.

    Then its steps have equal lengths: JAX traces one, where else each has bounds of its own.
    `inputs` are what the node is called with.
    """
    if not is_known(inputs[0]):
        return None
    outer = op.get_oinp_iinp_iout_oout_mappings()["outer_inp_from_inner_inp"]
    values = [inputs[outer[k]] for k in range(len(op.fgraph.inputs))]
    places, sequences = range(len(values)), op.info.n_seqs
    fixed = op.inner_non_seqs(places)
    whole = [*fixed, *op.inner_untraced_sit_sot(places)]  # the others have a row for each step
    known = [k for k, v in enumerate(values) if (k < sequences or k in fixed) and is_known(v)]
    now = [
        jax.ShapeDtypeStruct(np.shape(v) if k in whole else np.shape(v)[1:], int)
        for k, v in enumerate(values)
    ]
    steps = []
    for step in range(int(inputs[0])):
        given = {k: np.asarray(values[k])[step] if k < sequences else values[k] for k in known}
        steps.append([given.get(k, shape) for k, shape in enumerate(now)])
    graph = windows_of_steps(op.fgraph, steps, known)
    if graph is None or any(k < sequences for k in deciding_inputs(graph)):
        return None
    return graph


def results_of_no_steps(op, node, inputs):
    """Return the results of a `Scan` of no steps; JAX would trace one, of lengths that nothing has.

    A result that only the loop makes has no elements, as in Python.
    """
    outer = list(inputs)
    taps = op.info.mit_sot_in_slices
    rows = [
        jnp.zeros([0] + [n or 0 for n in out.type.shape[1:]], out.type.dtype)
        for out in op.outer_nitsot_outs(node.outputs)
    ]
    results = [
        *op.outer_mitmot(outer),
        *(b[: -min(tap)] for b, tap in zip(op.outer_mitsot(outer), taps, strict=True)),
        *(buffer[:1] for buffer in op.outer_sitsot(outer)),
        *rows,
        *op.outer_untraced_sit_sot(outer),
    ]
    return results[0] if len(results) == 1 else results


class StepsInPython:
    """An inner graph of a `Scan` whose steps JAX traces one by one, as lengths differ between them.

    `step` is the graph's function; `sequences` are known, by the places of the graph's inputs.
    """

    def __init__(self, fgraph, step, sequences):
        self.fgraph, self.step, self.sequences = fgraph, step, sequences


@jax_funcify.register(StepsInPython)
def jax_funcify_StepsInPython(graph, **kwargs):
    numbers = count()

    def step(*args):
        i, args = next(numbers), list(args)
        for k, sequence in graph.sequences.items():
            args[k] = as_known(sequence[i])
        with jax.disable_jit(False):  # loops within it are compiled
            return graph.step(*args)

    return step
