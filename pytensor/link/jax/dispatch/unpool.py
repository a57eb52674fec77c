import jax.numpy as jnp
import numpy as np

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.tensor.pool.unpool import MaxUnpool, MaxUnpoolGrad

# The inner graphs scatter to equal indices, and XLA doesn't say which value stays.


def as_rows(x, n):
    return x.reshape(int(np.prod(x.shape[: x.ndim - n])), int(np.prod(x.shape[x.ndim - n :])))


def last_writer(indices, n_cells):
    """Return which entry of each row of `indices` stays at each cell; -1 for none."""
    rows = np.arange(indices.shape[0])[:, None]
    number = np.arange(indices.shape[1], dtype=indices.dtype)[None]
    return jnp.full((indices.shape[0], n_cells), -1, indices.dtype).at[rows, indices].max(number)


@jax_funcify.register(MaxUnpool)
def jax_funcify_MaxUnpool(op, **kwargs):
    n = len(op.lengths)

    def max_unpool(x, indices, *unknown):
        if x.shape != indices.shape:
            raise ValueError(
                f"max_unpool: indices must have shape {x.shape}, that of x; got {indices.shape}"
            )
        lengths = [int(length) for length in op.all_lengths(unknown)]
        entries, positions = as_rows(x, n), as_rows(indices, n)
        writer = last_writer(positions, int(np.prod(lengths)))
        cells = jnp.take_along_axis(entries, jnp.maximum(writer, 0), axis=1)
        return jnp.where(writer < 0, 0, cells).reshape(*x.shape[:-n], *lengths)

    return max_unpool


@jax_funcify.register(MaxUnpoolGrad)
def jax_funcify_MaxUnpoolGrad(op, **kwargs):
    n = len(op.lengths)

    def max_unpool_grad(cotangent, indices, *unknown):
        cells, positions = as_rows(cotangent, n), as_rows(indices, n)
        writer = jnp.take_along_axis(last_writer(positions, cells.shape[1]), positions, axis=1)
        stays = writer == np.arange(positions.shape[1])
        entries = jnp.where(stays, jnp.take_along_axis(cells, positions, axis=1), 0)
        return entries.reshape(indices.shape)

    return max_unpool_grad
