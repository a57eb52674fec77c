"""Conditions: a branch that is known while JAX traces, or both."""

from copy import copy
from functools import partial

import jax

from pytensor.conditional.op import IfElse, LazyIfElse
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.fixes.known_while_tracing import is_known
from pytensor.link.jax.mode.conversion import with_converter, with_known_within
from pytensor.link.jax.mode.refusals import refuse_choice
from pytensor.link.jax.rewriting.find_sizes import choice_inputs, length_inputs


@corrected_funcify.register(IfElse)
def corrected_funcify_IfElse(op, node, **kwargs):
    function = jax_funcify(op, node=node, **kwargs)

    def chosen(condition, *inputs):
        branches = inputs[: op.n_outs], inputs[op.n_outs :]
        if is_known(condition):
            results = branches[not condition]
            return results if op.n_outs > 1 else results[0]
        refuse_choice(node, *branches)
        return function(condition, *inputs)

    return chosen


@corrected_funcify.register(LazyIfElse)
def corrected_funcify_LazyIfElse(op, node, convert_node, **kwargs):
    convert_node = partial(convert_node, is_always_computed=False)

    def converted(known):
        new = copy(op)
        new.true_branch = with_converter(op.true_branch, convert_node, known)
        new.false_branch = with_converter(op.false_branch, convert_node, known)
        return jax_funcify(new, node=node, **kwargs)

    read = {*length_inputs(op, node), *choice_inputs(op, node)} - {0}
    function = with_known_within({k - 1: k for k in read}, converted)

    def branch(which):
        # All programs share its constants, which must be no values of the trace.
        with jax.ensure_compile_time_eval():
            return jax_funcify(with_converter(which, convert_node), node=node, **kwargs)

    def chosen(condition, *inputs):
        if is_known(condition):
            return branch(op.true_branch if condition else op.false_branch)(*inputs)
        try:
            return function(condition, *inputs)
        except TypeError:
            branches = map(branch, (op.true_branch, op.false_branch))
            refuse_choice(node, *(jax.eval_shape(one, *inputs) for one in branches))
            raise

    return chosen
