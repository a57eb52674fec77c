"""Multi-head attention; names of the parameters are PyTorch's."""

from functools import partial
from typing import Any

import pytensor.tensor as pt
from pytensor.layers import init
from pytensor.layers.basic import Linear
from pytensor.layers.module import Module, generator, parameter, restart
from pytensor.layers.updates import current_updates
from pytensor.tensor import TensorLike
from pytensor.tensor.nn.checks import nonnegative
from pytensor.tensor.variable import TensorVariable


class MultiHeadAttention(Module):
    """Attend to the positions of a sequence with several heads (Vaswani et al., 2017).

    Parameters
    ----------
    embed_dim : int
        Width of queries, keys, values and the output.
    num_heads : int
        A divisor of `embed_dim`.
    dropout : float
        Probability that the weight of a key is set to zero in training, from 0 to 1.
    bias : bool

    Notes
    -----
    The batch comes first, and only the output is returned, as from PyTorch's ``MultiheadAttention``
    with ``batch_first=True, need_weights=False``.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor import layers
    >>> x = pt.tensor("x", shape=(None, 10, 32))
    >>> layers.MultiHeadAttention(32, num_heads=4)(x, causal=True).type.ndim
    3
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True
    ) -> None:
        self.dropout = nonnegative("MultiHeadAttention", "dropout", dropout, 1)
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(
                f"MultiHeadAttention: num_heads must divide embed_dim, {embed_dim}; got {num_heads}"
            )
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.in_proj_weight = parameter((3 * embed_dim, embed_dim), init.xavier_uniform())
        self.in_proj_bias = parameter((3 * embed_dim,)) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        if self.out_proj.bias is not None:
            restart(self.out_proj.bias, init.constant(0.0))
        self.rng = generator()

    def __call__(
        self, query: TensorLike, key: TensorLike | None = None, value: TensorLike | None = None, *,
        mask: TensorLike | None = None, causal: bool = False,
    ) -> TensorVariable:  # fmt: skip
        """Map queries (batch, length, width) to an output of their shape.

        Parameters
        ----------
        query : tensor_like, shape (batch, length, width)
        key : tensor_like, shape (batch, other length, width), optional
            `query` by default.
        value : tensor_like, shape of `key`, optional
            `key` by default.
        mask : tensor_like, shape broadcastable to (batch, heads, length, other length), optional
            Whether a query attends to a key (True), or what is added to its score.
        causal : bool
            Whether a query attends only to keys up to its own position.
        """
        weight, bias = self.in_proj_weight, self.in_proj_bias
        if key is None and value is None:
            parts = self._thirds(pt.nn.linear(query, weight, bias), axis=-1)
        else:
            key = query if key is None else key
            values = query, key, key if value is None else value
            biases = [None] * 3 if bias is None else self._thirds(bias)
            projections = zip(values, self._thirds(weight), biases, strict=True)
            parts = [pt.nn.linear(*each) for each in projections]
        q, k, v = (self._split(part) for part in parts)
        attend = partial(
            pt.nn.scaled_dot_product_attention, q, k, v, attn_mask=mask, is_causal=causal
        )
        updates = current_updates()
        if updates is None or self.dropout == 0:
            y = attend()
        else:
            rng: Any = updates.get(self.rng, self.rng)
            updates[self.rng], y = attend(dropout_p=self.dropout, rng=rng, return_next_rng=True)
        y = y.swapaxes(-2, -3)
        return self.out_proj(y.reshape((*y.shape[:-2], self.embed_dim)))

    def _thirds(self, x: TensorVariable, axis: int = 0) -> Any:
        """Return the parts of queries, keys and values."""
        return pt.split(x, [self.embed_dim] * 3, n_splits=3, axis=axis)

    def _split(self, x: TensorVariable) -> TensorVariable:
        """Map (..., length, width) to (..., heads, length, width / heads)."""
        shape = (*x.shape[:-1], self.num_heads, self.embed_dim // self.num_heads)
        return x.reshape(shape).swapaxes(-2, -3)
