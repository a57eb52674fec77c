import math

import jax
import jax.numpy as jnp
import numpy as np

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.tensor.rewriting.recompute import GradientSums, Moments


def _two_sums(a, b, axes):
    """The sums of two images as one of complex numbers, which XLA makes one loop of.

    In a loop of two sums it would compute what both read twice, or an image of it before the loop.
    """
    both = jax.lax.complex(a, b).sum(axes)
    return both.real, both.imag


@jax_funcify.register(Moments)
def jax_funcify_Moments(op, **kwargs):
    axes = op.axes

    def moments(x, *near):
        number = math.prod(x.shape[a] for a in axes)
        if not number:
            return (jnp.zeros([n for a, n in enumerate(x.shape) if a not in axes], x.dtype),) * 2
        # or else the element in the middle
        middle = tuple(n // 2 if a in axes else slice(None) for a, n in enumerate(x.shape))
        # The results don't depend on it, also where an earlier batch has left NaN in it.
        near = jnp.nan_to_num(near[0], posinf=0, neginf=0) if near else x[middle]
        differences = x - jnp.expand_dims(near, axes)
        total, of_squares = _two_sums(differences, jnp.square(differences), axes)
        mean = total / number
        # Rounding must not make it negative; NaN stays NaN.
        variance = jnp.maximum(of_squares / number - jnp.square(mean), 0)
        return near + mean, variance

    return moments


@jax_funcify.register(GradientSums)
def jax_funcify_GradientSums(op, **kwargs):
    def gradient_sums(x, gamma, mean, variance, cotangent):
        centred = x - jnp.expand_dims(mean, op.axes)
        g_beta, g_gamma = _two_sums(cotangent, cotangent * centred, op.axes)
        return g_gamma * jax.lax.rsqrt(variance + np.asarray(op.epsilon, variance.dtype)), g_beta

    return gradient_sums
