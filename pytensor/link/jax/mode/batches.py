"""Ops over batches, whose rows may have integers that decide lengths."""

import math

import jax
import numpy as np

from pytensor.graph.fg import FunctionGraph
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.fixes.known_while_tracing import is_known
from pytensor.link.jax.mode.conversion import as_function
from pytensor.link.jax.rewriting.find_sizes import length_inputs
from pytensor.tensor.basic import constant
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.type import discrete_dtypes


@corrected_funcify.register(Blockwise)
def corrected_funcify_Blockwise(op, convert_node, node, **kwargs):
    _, core_inputs = op._create_dummy_core_node(node.inputs, return_dummy_inputs=True)
    axes = [v.type.ndim - core.type.ndim for v, core in zip(node.inputs, core_inputs, strict=True)]
    integers = [k for k, v in enumerate(node.inputs) if v.type.dtype in discrete_dtypes]
    same_for_all = [k for k in integers if all(node.inputs[k].type.broadcastable[: axes[k]])]
    deciding = [k for k in length_inputs(op, node) if k in integers and k not in same_for_all]
    if not same_for_all and not deciding:
        core = op._create_dummy_core_node(node.inputs, propagate_unbatched_core_inputs=True)
        function = corrected_funcify(core.op, node=core, convert_node=convert_node, **kwargs)
        return _over_batches(op, node, function)

    def with_numbers(numbers):
        core = list(core_inputs)
        for k, value in numbers.items():
            core[k] = constant(np.asarray(value, dtype=core[k].type.dtype))
        graph = FunctionGraph(core_inputs, op.core_op.make_node(*core).outputs, clone=False)
        with jax.ensure_compile_time_eval():
            return as_function(graph, convert_node, squeeze_output=True, **kwargs)

    def blockwise(*inputs):
        # `vectorize_graph` gives a batch's axes to lengths, and jnp.vectorize traces them, so that
        # nothing could be split or scanned by them: thoughts/upstream/vectorized-lengths.md.
        known = {k: np.asarray(inputs[k]) for k in same_for_all + deciding if is_known(inputs[k])}
        rows = {k: value.reshape(-1, *value.shape[axes[k] :]) for k, value in known.items()}
        if any((value != value[:1]).any() for value in rows.values()):
            return _one_by_one(op, node, axes, known, with_numbers)(*inputs)
        numbers = {k: value[0] for k, value in rows.items() if len(value)}
        return _over_batches(op, node, with_numbers(numbers))(*inputs)

    return blockwise


def _one_by_one(op, node, axes, known, with_numbers):
    """Return the function of a Blockwise with known integers that differ from row to row."""

    def blockwise(*inputs):
        op._check_runtime_broadcast(node, inputs)
        inputs = [known.get(k, v) for k, v in enumerate(inputs)]
        batches = [np.shape(v)[:n] for v, n in zip(inputs, axes, strict=True)]
        batch = np.broadcast_shapes(*batches)
        places = [np.broadcast_to(np.arange(math.prod(b)).reshape(b), batch) for b in batches]
        flat = [v.reshape(-1, *np.shape(v)[n:]) for v, n in zip(inputs, axes, strict=True)]
        results = []
        for rows in zip(*(place.ravel() for place in places), strict=True):
            core = [v[row] for v, row in zip(flat, rows, strict=True)]
            found = with_numbers({k: core[k] for k in known})(*core)
            results.append(found if isinstance(found, tuple | list) else [found])
        shapes = sorted({np.shape(row[0]) for row in results})
        if len(shapes) > 1:
            raise ValueError(
                f"{op.core_op} has results of the shapes {' and '.join(map(str, shapes))} in one "
                f"batch, but arrays have rows of one length"
            )
        outputs = [
            jax.numpy.stack(v).reshape(batch + np.shape(v[0])) for v in zip(*results, strict=True)
        ]
        return outputs[0] if len(outputs) == 1 else outputs

    return blockwise


def _over_batches(op, node, function):
    vectorized = jax.numpy.vectorize(function, signature=op.signature)

    def blockwise(*inputs):
        op._check_runtime_broadcast(node, inputs)
        return vectorized(*inputs)

    return blockwise
