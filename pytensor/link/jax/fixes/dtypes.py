"""Dtypes of results and operands, where JAX's rules aren't PyTensor's.

thoughts/upstream/jax-result-dtypes.md
"""

import jax
import jax.numpy as jnp
import numpy as np

__all__ = [
    "declared_dtypes", "with_operands", "with_operands_in_result_dtype", "with_real_operands",
]  # fmt: skip


def declared_dtypes(node):
    """Return what gives a list of a node's results the dtypes of its outputs' types.

    bfloat16 stays, which mixed precision computes in.  Integers of Python's stay too, for they may
    be lengths, but overflow as integers of the dtype.
    """
    # By name, so that linear algebra isn't imported for other graphs.
    if type(getattr(node.op, "core_op", node.op)).__name__ == "LUFactor":
        # Types call factors of integers integers: thoughts/upstream/floats-called-integers.md.
        return list
    declared = [(_declared(variable), _integer_range(variable)) for variable in node.outputs]

    def in_declared_dtypes(results):
        return [cast(v, *of_type) for v, of_type in zip(results, declared, strict=True)]

    def cast(result, dtype, integers):
        if type(result) is int and integers is not None:
            lowest, number = integers
            return (result - lowest) % number + lowest
        other = dtype is not None and isinstance(result, jax.Array) and result.dtype != dtype
        return result.astype(dtype) if other and result.dtype != jnp.bfloat16 else result

    return in_declared_dtypes


def _declared(variable):
    """Return the dtype that JAX has for a variable's; None for generators and the like."""
    dtype = getattr(variable.type, "numpy_dtype", None)
    return None if dtype is None else jax.dtypes.canonicalize_dtype(dtype)


def _integer_range(variable):
    """Return the lowest integer of a variable's dtype, and how many it has; None for others."""
    dtype = getattr(variable.type, "numpy_dtype", None)
    if dtype is None or dtype.kind not in "iu":
        return None
    return int(np.iinfo(dtype).min), 1 << 8 * dtype.itemsize


def with_operands(function, node, dtypes):
    """Cast those inputs of a node whose types have another dtype than they are computed in.

    Only Python numbers stay so: they may be lengths.
    """
    casts = [
        (k, jax.dtypes.canonicalize_dtype(dtype))
        for k, (v, dtype) in enumerate(zip(node.inputs, dtypes, strict=True))
        if dtype is not None and v.type.dtype != dtype
    ]
    if not casts:
        return function

    def computed(*inputs):
        inputs = list(inputs)
        if any(isinstance(v, jax.Array) for v in inputs):
            for k, dtype in casts:
                inputs[k] = jnp.asarray(inputs[k]).astype(dtype)
        return function(*inputs)

    return computed


def with_real_operands(function, node):
    """Cast real matrices to the result's precision: JAX computes matrices of int32 in float32."""
    dtype = np.zeros(0, node.outputs[0].type.dtype).real.dtype.name
    real = [None if v.type.dtype.startswith("complex") else dtype for v in node.inputs]
    return with_operands(function, node, real)


def with_operands_in_result_dtype(function, node):
    """Cast all inputs to the dtype of a node's first output."""
    dtype = node.outputs[0].type.dtype
    return with_operands(function, node, [dtype] * len(node.inputs))
