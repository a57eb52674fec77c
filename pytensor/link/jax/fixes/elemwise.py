"""Elementwise functions and reductions: dtypes of operands, and functions of integers."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from pytensor import scalar as ps
from pytensor.link.conversions import Conversions
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.fixes.dtypes import with_operands
from pytensor.tensor.elemwise import CAReduce, Elemwise

__all__ = ["corrected_scalar"]


@corrected_funcify.register(Elemwise)
def corrected_funcify_Elemwise(op, node, **kwargs):
    function = corrected_scalar(op.scalar_op, node=node, **kwargs)

    def elemwise(*inputs):
        Elemwise._check_runtime_broadcast(node, tuple(map(jnp.asarray, inputs)))
        return function(*inputs)

    # JAX computes an int32 and a float32 in float32, where PyTensor says float64:
    # thoughts/upstream/jax-result-dtypes.md.
    computed = with_operands(elemwise, node, _operand_dtypes(op.scalar_op, node))
    compared = {v.type.dtype for v in node.inputs if node.outputs[0].type.dtype == "bool"}
    if "float64" not in compared:
        return computed
    # XLA compares again in each fusion that reads the result, and may round what it compares in
    # another way: where numbers are nearly equal, terms that should cancel don't.  It may so in
    # float32, where speed is wanted; see thoughts/upstream/xla-comparisons-per-fusion.md.
    return lambda *inputs: jax.lax.optimization_barrier(computed(*inputs))


@corrected_funcify.register(ps.ScalarOp)
def corrected_funcify_ScalarOp(op, node, **kwargs):
    # Nodes of numbers of PyTensor's, outside of any `Elemwise`.
    function = corrected_scalar(op, node=node, **kwargs)
    return with_operands(function, node, _operand_dtypes(op, node))


def _operand_dtypes(scalar_op, node):
    """Return the dtype that each input is computed in; None where it is taken as it is."""
    dtype = node.outputs[0].type.dtype
    given = [v.type.dtype for v in node.inputs]
    if isinstance(scalar_op, ps.Switch | ps.Second):
        return [None] + [dtype] * (len(given) - 1)
    if isinstance(scalar_op, ps.Cast | ps.ScalarInnerGraphOp):
        return [None] * len(given)
    if len(given) == 1 and dtype in ("bool", *given):
        return [None]
    if dtype == "bool":
        return [np.result_type(*given).name] * len(given)
    # A complex number's size, angle and parts are real, and two real numbers make a complex one.
    complexes = sum(name.startswith("complex") for name in (*given, dtype))
    if complexes == 1 or (complexes and not dtype.startswith("complex")):
        return [None] * len(given)
    return [dtype] * len(given)


@partial(Conversions, modules={"pytensor.scalar.math": "pytensor.link.jax.fixes.scalar"})
def corrected_scalar(scalar_op, **kwargs):
    """Convert the scalar Op of an `Elemwise`."""
    return jax_funcify(scalar_op, **kwargs)


@corrected_scalar.register(ps.IntDiv)
def corrected_scalar_IntDiv(scalar_op, node, **kwargs):
    function = jax_funcify(scalar_op, node=node, **kwargs)
    if node.outputs[0].type.dtype not in ps.discrete_dtypes:
        return function

    def int_div(x, y):
        # An integer divided by 0 is 0 in NumPy, and -1 or -2 in XLA.
        if not isinstance(x, jax.Array) and not isinstance(y, jax.Array):
            return function(x, y)
        is_zero = jnp.equal(y, 0)
        return jnp.where(is_zero, 0, function(x, jnp.where(is_zero, 1, y)))

    return int_div


@corrected_scalar.register(ps.Pow)
def corrected_scalar_Pow(scalar_op, node, **kwargs):
    function = jax_funcify(scalar_op, node=node, **kwargs)
    if node.outputs[0].type.dtype not in ps.discrete_dtypes:
        return function

    def power(x, y):
        # JAX's reads the lowest six bits of an exponent: thoughts/upstream/jax-integer-powers.md.
        # Like JAX's, this is 1 for a negative one.
        def multiply(state):
            left, square, result = state
            result = jnp.where(left & 1 == 1, result * square, result)
            return left >> 1, square * square, result

        x, y = jnp.broadcast_arrays(x, y)
        start = jnp.maximum(y, 0), x, jnp.ones_like(x)
        return jax.lax.while_loop(lambda state: (state[0] > 0).any(), multiply, start)[-1]

    return power


@corrected_funcify.register(CAReduce)
def corrected_funcify_CAReduce(op, node, **kwargs):
    if isinstance(op.scalar_op, ps.AND) and not getattr(op, "nfunc_spec", None):
        return _all_bits(op)
    # PyTensor's adds up in the input's dtype and returns the accumulator's, float64 for a sum of
    # float32.  See thoughts/upstream/jax-sums-in-accumulator-dtype.md.
    if getattr(op, "acc_dtype", None) is None:
        return jax_funcify(op, node=node, **kwargs)
    declared = jax.dtypes.canonicalize_dtype(node.outputs[0].type.dtype).name
    reduced = jax_funcify(op.clone(acc_dtype=declared), node=node, **kwargs)
    given = node.inputs[0].type.dtype
    is_wider = given != declared and np.result_type(given, declared) == declared
    if is_wider and given.startswith(("float", "complex")):
        return lambda x: reduced(x.astype(declared))
    return reduced


def _all_bits(op):
    """Return the function for a reduction by `&`: PyTensor's begins with -1, which may not fit."""

    def all_bits(x):
        axes = range(x.ndim) if op.axis is None else op.axis
        ones = ~np.zeros((), x.dtype)
        return jax.lax.reduce(x, ones, jax.lax.bitwise_and, tuple(axes))

    return all_bits
