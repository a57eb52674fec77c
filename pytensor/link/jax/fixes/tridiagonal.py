"""Tridiagonal LU factors, and what is solved by them, as LAPACK's gttrf and gttrs compute them."""

import jax
import jax.numpy as jnp

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.tensor.linalg.solvers.tridiagonal import LUFactorTridiagonal, SolveLUFactorTridiagonal


def size(x):
    """Return what LAPACK compares for pivots: of complex numbers, the sum of both parts' sizes."""
    return abs(x.real) + abs(x.imag) if jnp.iscomplexobj(x) else abs(x)


def beyond(x):
    """Return a vector with a zero behind its end."""
    return jnp.concatenate([x, jnp.zeros_like(x, shape=(1, *x.shape[1:]))])


@jax_funcify.register(LUFactorTridiagonal)
def jax_funcify_LUFactorTridiagonal(op, node, **kwargs):
    dtype = node.outputs[0].type.dtype

    def eliminate(row, below):
        d, du, k = row
        dl, next_d, next_du = below
        stays = size(d) >= size(dl)
        # A zero pivot eliminates nothing, and is found by whoever divides by it.
        factor = jnp.where(stays, dl, d) / jnp.where(stays, jnp.where(d == 0, 1, d), dl)
        factor = jnp.where(stays & (d == 0), dl, factor)
        multiple = jnp.where(stays & (d == 0), 0, factor)
        written = (
            factor,
            jnp.where(stays, d, dl),
            jnp.where(stays, du, next_d),
            jnp.where(stays, 0, next_du),
            jnp.where(stays, k, k + 1),
        )
        row = (
            jnp.where(stays, next_d - multiple * du, du - multiple * next_d),
            jnp.where(stays, next_du, -multiple * next_du),
            k + 1,
        )
        return row, written

    def factor(dl, d, du):
        dl, d, du = (jnp.asarray(v).astype(dtype) for v in (dl, d, du))
        first = d[0], beyond(du)[0], jnp.int32(1)
        (last, _, k), written = jax.lax.scan(eliminate, first, (dl, d[1:], beyond(du)[1:]))
        dl, d, du, du2, pivots = written
        return dl, jnp.append(d, last), du, du2[:-1], jnp.append(pivots, k)

    return factor


@jax_funcify.register(SolveLUFactorTridiagonal)
def jax_funcify_SolveLUFactorTridiagonal(op, node, **kwargs):
    dtype = node.outputs[0].type.dtype

    def solve(dl, d, du, du2, pivots, b):
        dl, d, du, du2, b = (jnp.asarray(v).astype(dtype) for v in (dl, d, du, du2, b))
        swapped = pivots[:-1] != jnp.arange(1, pivots.shape[0])
        if op.transposed:
            return solve_lower_transposed(dl, swapped, solve_upper_transposed(d, du, du2, b))
        return solve_upper(d, du, du2, solve_lower(dl, swapped, b))

    return solve


def solve_lower(dl, swapped, b):
    """Solve L x = b, with its exchanges of rows."""

    def step(x, row):
        dl, swap, below = row
        kept, other = jnp.where(swap, below, x), jnp.where(swap, x, below)
        return other - dl * kept, kept

    last, x = jax.lax.scan(step, b[0], (dl, swapped, b[1:]))
    return jnp.concatenate([x, last[None]])


def solve_lower_transposed(dl, swapped, b):
    """Solve the transpose of L, with its exchanges of rows."""

    def step(below, row):
        dl, swap, x = row
        other = x - dl * below
        return jnp.where(swap, below, other), jnp.where(swap, other, below)

    first, x = jax.lax.scan(step, b[-1], (dl, swapped, b[:-1]), reverse=True)
    return jnp.concatenate([first[None], x])


def solve_upper(d, du, du2, b):
    """Solve U x = b by its three diagonals."""

    def step(below, row):
        (one, two), (d, du, du2, b) = below, row
        x = (b - du * one - du2 * two) / d
        return (x, one), x

    zero = jnp.zeros_like(b[0])
    rows = d, beyond(du), beyond(beyond(du2))[: d.shape[0]], b
    return jax.lax.scan(step, (zero, zero), rows, reverse=True)[1]


def solve_upper_transposed(d, du, du2, b):
    """Solve the transpose of U by its three diagonals."""
    return solve_upper(d[::-1], du[::-1], du2[::-1], b[::-1])[::-1]
