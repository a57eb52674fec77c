import math

import jax
import jax.numpy as jnp
import numpy as np

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.dispatch.collectives import sum_over_devices
from pytensor.link.jax.parallel import data_parallel, shares_statistics
from pytensor.link.jax.platforms import in_one_kernel
from pytensor.link.jax.rewriting.recompute import GradientSums, Moments


def _two_sums(a, b, axes):
    """Return the sums of two images by one of complex numbers, which XLA makes one loop of.

    In a loop of two sums it would compute what both read twice, or an image of it before the loop.
    A sum over many rows takes it two kernels.  Of small images the second would be tiny; as a sum
    of fewer than 32 rows XLA computes it in the loop of what is made of it.  That's only good where
    the first has enough to do at a time.
    """
    both = jax.lax.complex(a, b)
    batch, pixels = both.shape[0], math.prod(both.shape[i] for i in axes[1:])
    rows = next((n for n in range(31, 1, -1) if batch % n == 0 and batch < 32 * n), None)
    if axes[0] == 0 and rows and both.size >= 16 * pixels**2:
        both = jax.lax.optimization_barrier(both.sum(axes[1:]))
        both, axes = sum(jnp.split(both, batch // rows)), 0
    both = both.sum(axes)
    return both.real, both.imag


def _inverse_std(op, variance):
    return jax.lax.rsqrt(variance + np.asarray(op.epsilon, variance.dtype))


def _over_devices(sums, number):
    """Sum two sums over the devices that share statistics, and multiply their number."""
    if not shares_statistics():
        return sums, number
    return sum_over_devices(sums), number * data_parallel().devices


@jax_funcify.register(Moments)
def jax_funcify_Moments(op, **kwargs):
    axes = op.axes

    def moments(x, gamma, *near):
        if number := math.prod(x.shape[a] for a in axes):
            # or else the element in the middle
            middle = tuple(n // 2 if a in axes else slice(None) for a, n in enumerate(x.shape))
            # The results don't depend on it, also where an earlier batch has left NaN in it.
            if near:
                near = in_one_kernel(*near)
            else:
                near, of = _over_devices([x[middle]], 1)
                near = near[0] / of
            near = jnp.where(jnp.isfinite(near), near, 0)
            differences = x - jnp.expand_dims(near, axes)
            sums = _two_sums(differences, jnp.square(differences), axes)
            (total, of_squares), number = _over_devices(sums, number)
            mean = total / number
            # Rounding must not make it negative; NaN stays NaN.
            variance = jnp.maximum(of_squares / number - jnp.square(mean), 0)
            mean = near + mean
        else:
            mean = variance = x.sum(axes)
        return mean, variance, gamma * _inverse_std(op, variance)

    return moments


@jax_funcify.register(GradientSums)
def jax_funcify_GradientSums(op, **kwargs):
    def gradient_sums(x, mean, variance, cotangent):
        number = max(math.prod(x.shape[a] for a in op.axes), 1)
        centred = x - jnp.expand_dims(mean, op.axes)
        own = _two_sums(cotangent, cotangent * centred, op.axes)
        (g_beta, g_gamma), number = _over_devices(own, number)
        inverse = _inverse_std(op, variance)
        g_gamma *= inverse
        for_image = inverse * g_gamma / number, g_beta / number
        # Those of the parameters are summed over the devices with all others
        return inverse * own[1], own[0], *for_image

    return gradient_sums
