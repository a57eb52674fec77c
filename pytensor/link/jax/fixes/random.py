"""Draws: distributions that PyTensor lacks, gets wrong or asks NumPyro for; states of generators.

States are values in a program, which no draw changes.
"""

import warnings

import jax
import jax.numpy as jnp
import numpy as np

import pytensor.tensor.random.basic as ptr
from pytensor.compile.ops import DeepCopyOp
from pytensor.link.jax.dispatch.basic import jax_funcify, jax_funcify_DeepCopyOp
from pytensor.link.jax.dispatch.random import (
    jax_funcify_RandomVariable,
    jax_sample_fn,
    numpyro_available,
)
from pytensor.link.jax.fixes.callbacks import CALLED_BACK
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.type import DenseTensorType


def shape_of(size, *parameters):
    """Return the shape of draws: the size, or the parameters' if it is None."""
    return jnp.broadcast_shapes(*map(jnp.shape, parameters)) if size is None else tuple(size)


@jax_sample_fn.register(ptr.RandomVariable)
def jax_sample_fn_by_numpy(op, node):
    """Have the Op draw on the host, by a callback: from NumPy's generator, which JAX's key seeds.

    It is for distributions without a conversion of their own: PyMC's, `pm.CustomDist` and others.
    """
    warnings.warn(CALLED_BACK.format(op=op), stacklevel=2)
    draws = node.outputs[1].type
    parameter_types = [v.type for v in op.dist_params(node)]

    def sample_fn(key, size, dtype, *parameters):
        shape = draws.shape
        if None in shape:
            if op.ndim_supp:
                raise NotImplementedError(
                    f"{op}: the length of each draw isn't known; give its parameters static shapes"
                )
            shape = shape_of(size, *parameters)

        def perform(seed, *values):
            values = [np.asarray(v, t.dtype) for v, t in zip(values, parameter_types, strict=True)]
            rng = np.random.default_rng(np.asarray(seed))
            drawn = op.rng_fn(rng, *values, None if size is None else tuple(map(int, size)))
            return np.asarray(drawn, result.dtype)

        result = jax.ShapeDtypeStruct(shape, jax.dtypes.canonicalize_dtype(dtype))
        seed = jax.random.bits(key, (4,), "uint32")
        return jax.pure_callback(perform, result, seed, *parameters, vmap_method="sequential")

    return sample_fn


@jax_sample_fn.register(ptr.TriangularRV)
def jax_sample_fn_triangular(op, node):
    def sample_fn(key, size, dtype, left, mode, right):
        shape = shape_of(size, left, mode, right)
        left, mode, right = (jnp.asarray(v).astype(dtype) for v in (left, mode, right))
        return jax.random.triangular(key, left, mode, right, shape, dtype)

    return sample_fn


@jax_sample_fn.register(ptr.WeibullRV)
def jax_sample_fn_weibull(op, node):
    def sample_fn(key, size, dtype, shape):
        concentration = jnp.asarray(shape).astype(dtype)
        return jax.random.weibull_min(key, 1, concentration, shape_of(size, shape), dtype)

    return sample_fn


@jax_sample_fn.register(ptr.HalfCauchyRV)
def jax_sample_fn_half_cauchy(op, node):
    def sample_fn(key, size, dtype, loc, scale):
        return loc + abs(jax.random.cauchy(key, shape_of(size, loc, scale), dtype)) * scale

    return sample_fn


@jax_sample_fn.register(ptr.TruncExponentialRV)
def jax_sample_fn_truncated_exponential(op, node):
    def sample_fn(key, size, dtype, b, loc, scale):
        # The inverse of the distribution function.
        u = jax.random.uniform(key, shape_of(size, b, loc, scale), dtype)
        return loc - jnp.log1p(u * jnp.expm1(-b)) * scale

    return sample_fn


@jax_sample_fn.register(ptr.CategoricalRV)
def jax_sample_fn_categorical(op, node):
    def sample_fn(key, size, dtype, p):
        # PyTensor's gives the logits log(p / (1 - p)): thoughts/upstream/jax-categories.md.
        log_p = jnp.log(jnp.asarray(p).astype(jnp.promote_types(jnp.result_type(p), "float32")))
        return jax.random.categorical(key, log_p, shape=size).astype(dtype)

    return sample_fn


def jax_sample_fn_binomial(op, node):
    def sample_fn(key, size, dtype, n, p):
        n, p = (jnp.asarray(v).astype("float64") for v in (n, p))
        return jax.random.binomial(key, n, p, shape=shape_of(size, n, p)).astype(dtype)

    return sample_fn


if not numpyro_available:
    jax_sample_fn.register(ptr.BinomialRV, jax_sample_fn_binomial)
    jax_sample_fn.register(ptr.VonMisesRV, jax_sample_fn_by_numpy)


@jax_funcify.register(RandomVariable)
def jax_funcify_draw(op, node, **kwargs):
    """Convert as PyTensor, whose function writes the next key into the state that it is given."""
    function = jax_funcify_RandomVariable(op, node=node, **kwargs)

    def draw(state, *args):
        return function(dict(state), *args)

    return draw


@jax_funcify.register(DeepCopyOp)
def jax_funcify_copy(op, node, **kwargs):
    if isinstance(node.inputs[0].type, DenseTensorType):
        return jax_funcify_DeepCopyOp(op, node=node, **kwargs)
    return lambda value: value
