"""Layers without spatial axes, and the chain of layers."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytensor.tensor as pt
from pytensor.layers import init
from pytensor.layers.module import Module, generator, parameter
from pytensor.layers.updates import current_updates
from pytensor.tensor import TensorLike
from pytensor.tensor.nn.checks import nonnegative
from pytensor.tensor.variable import TensorVariable


class Linear(Module):
    """Multiply by a matrix and add a bias, over the last axis.

    Parameters
    ----------
    in_features, out_features : int
    bias : bool

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor import layers
    >>> layers.Linear(3, 5)(pt.tensor("x", shape=(None, 3))).type.shape
    (None, 5)
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        start = init.uniform(1 / math.sqrt(max(in_features, 1)))
        self.weight = parameter((out_features, in_features), start)
        self.bias = parameter((out_features,), start) if bias else None

    def __call__(self, x: TensorLike) -> TensorVariable:
        """Map (..., in features) to (..., out features)."""
        return pt.nn.linear(x, self.weight, self.bias)


class Embedding(Module):
    """Look up a row of a table for each index.

    Parameters
    ----------
    num_embeddings : int
        Rows of the table.
    embedding_dim : int
        Length of a row.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor import layers
    >>> words = pt.tensor("words", shape=(None, 7), dtype="int64")
    >>> layers.Embedding(1000, 16)(words).type.shape
    (None, 7, 16)
    """

    def __init__(self, num_embeddings: int, embedding_dim: int) -> None:
        self.weight = parameter((num_embeddings, embedding_dim), init.normal())

    def __call__(self, indices: TensorLike) -> TensorVariable:
        """Map integers of any shape to vectors along a new last axis."""
        return pt.nn.embedding(indices, self.weight)


class Dropout(Module):
    """Set elements to zero in training, each with probability `p`, and scale the others.

    Parameters
    ----------
    p : float
        From 0 to 1.
    """

    def __init__(self, p: float = 0.5) -> None:
        self.p = nonnegative("Dropout", "p", p, 1)
        self.rng = generator()

    def __call__(self, x: TensorLike) -> TensorVariable:
        """Return `x` itself in the inference graph."""
        updates = current_updates()
        if updates is None or self.p == 0:
            return pt.as_tensor_variable(x)
        rng: Any = updates.get(self.rng, self.rng)
        updates[self.rng], y = pt.nn.dropout(x, self.p, rng=rng, return_next_rng=True)
        return y


class Sequential(Module):
    """Call one layer after the other.

    Parameters
    ----------
    *layers : Module or callable
        Functions, `pytensor.tensor.nn.relu` for example, count when parameters are named: the
        third layer's are called ``2.weight``, as with PyTorch's modules for activations.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor import layers
    >>> net = layers.Sequential(layers.Linear(3, 5), pt.nn.relu, layers.Linear(5, 2))
    >>> net(pt.tensor("x", shape=(None, 3))).type.shape
    (None, 2)
    >>> list(net.state_dict())
    ['0.weight', '0.bias', '2.weight', '2.bias']
    """

    def __init__(self, *layers: Callable[..., Any]) -> None:
        for position, layer in enumerate(layers):
            if not callable(layer):
                raise TypeError(f"Sequential: layer {position} is not callable: {layer!r}")
        self.layers = list(layers)

    def children(self) -> Iterator[tuple[str, Any]]:
        """Yield the layers by their positions."""
        for position, layer in enumerate(self.layers):
            yield str(position), layer

    def __getitem__(self, position: int) -> Any:
        """Return a layer by its position."""
        return self.layers[position]

    def __call__(self, x: Any) -> Any:
        """Return the output of the last layer."""
        for layer in self.layers:
            x = layer(x)
        return x
