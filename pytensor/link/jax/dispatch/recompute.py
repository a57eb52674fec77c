import math

import jax
import jax.numpy as jnp
import numpy as np

from pytensor.link.jax.dispatch import updates  # noqa: F401 (`SharedNumbers` is a `Barrier`)
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.dispatch.collectives import sum_over_devices
from pytensor.link.jax.rewriting.recompute import Barrier, GradientSums, Moments
from pytensor.link.jax.target import in_one_kernel, shares_statistics, sharing_devices


def _two_sums(a, b, axes):
    """Return the sums of two images, as the parts of one sum of complex numbers.

    XLA makes one loop of it.  For two sums it would compute twice what both read, or write that to
    memory first.

    A sum over a batch and its pixels takes XLA two kernels.  Where images are small, the second has
    almost nothing to do; split into sums of fewer than 32 rows, XLA computes it in the loop that
    reads the result.  That pays only where the first kernel has enough to do.
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
    return sum_over_devices(sums), number * sharing_devices()


@jax_funcify.register(Moments)
def jax_funcify_Moments(op, **kwargs):
    axes = op.axes

    def moments(x, gamma, *near):
        if number := math.prod(x.shape[a] for a in axes):
            # Sums of differences to a number near the mean are precise: to the running mean, or
            # else to the element in the middle.
            middle = tuple(n // 2 if a in axes else slice(None) for a, n in enumerate(x.shape))
            if near:
                near = in_one_kernel(*near)
            else:
                near, of = _over_devices([x[middle]], 1)
                near = near[0] / of
            near = jnp.where(jnp.isfinite(near), near, 0)  # an earlier batch may have left NaN
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
        # Gradients for parameters are summed over the devices later, with all others
        return inverse * own[1], own[0], *for_image

    return gradient_sums


@jax_funcify.register(Barrier)
def jax_funcify_Barrier(op, node, **kwargs):
    if len(node.outputs) == 1:
        return jax.lax.optimization_barrier

    def barrier(*values):
        return jax.lax.optimization_barrier(values)

    return barrier
