"""Recurrent layers; names of the parameters and the order of gates are PyTorch's."""

import math
from typing import Any, Literal

import pytensor
import pytensor.tensor as pt
from pytensor.layers import init
from pytensor.layers.module import Module, parameter
from pytensor.tensor import TensorLike
from pytensor.tensor.batching import lengths_of
from pytensor.tensor.nn.checks import of_shape
from pytensor.tensor.recurrent import Recurrent
from pytensor.tensor.variable import TensorVariable


class _Recurrent(Module):
    """Layers of cells with `gates` gates and `states` states, each run along the sequence."""

    cell: Literal["GRU", "LSTM"]
    gates: int
    states: int

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, *,
        bidirectional: bool = False,
    ) -> None:  # fmt: skip
        if min(input_size, hidden_size, num_layers) < 1:
            raise ValueError(
                f"{type(self).__name__}: sizes must be at least 1, got {input_size}, "
                f"{hidden_size} and {num_layers} layers"
            )
        self.hidden_size, self.num_layers, self.bidirectional = (
            hidden_size, num_layers, bidirectional,
        )  # fmt: skip
        start = init.uniform(1 / math.sqrt(hidden_size))
        rows = self.gates * hidden_size
        for layer in range(num_layers):
            size = hidden_size * (1 + bidirectional) if layer else input_size
            for direction in ("", "_reverse")[: 1 + bidirectional]:
                end = f"l{layer}{direction}"
                setattr(self, f"weight_ih_{end}", parameter((rows, size), start))
                setattr(self, f"weight_hh_{end}", parameter((rows, hidden_size), start))
                for kind in ("ih", "hh") if bias else ():
                    setattr(self, f"bias_{kind}_{end}", parameter((rows,), start))

    def _cell(self, x: TensorVariable, *state: TensorVariable) -> tuple[TensorVariable, ...]:
        """Return the next states; `state` begins with the projection of its own first one."""
        raise NotImplementedError

    def _parts(self, x: TensorVariable) -> Any:
        """Return what belongs to each gate."""
        return pt.split(x, [self.hidden_size] * self.gates, n_splits=self.gates, axis=-1)

    def _run(
        self, sequence: TensorLike, states: Any
    ) -> tuple[TensorVariable, list[TensorVariable]]:
        """Return the last layer's outputs and the final states, (layers, batch, hidden) each."""
        x: Any = pt.as_tensor_variable(sequence)
        if x.type.ndim != 3:
            raise ValueError(
                f"{type(self).__name__}: x must have 3 axes, (batch, length, features); it has "
                f"{x.type.ndim}"
            )
        if states is not None:
            states = self._checked(states, x)
        x = x.swapaxes(0, 1)
        last: list[list[TensorVariable]] = []
        for layer in range(self.num_layers):
            directions = []
            for backwards in range(1 + self.bidirectional):
                begin = None if states is None else [state[len(last)] for state in states]
                y, *ends = self._direction(x, layer, bool(backwards), begin)
                last.append(ends)
                directions.append(y)
            x = pt.concatenate(directions, axis=-1) if self.bidirectional else directions[0]
        return x.swapaxes(0, 1), [pt.stack(each) for each in zip(*last, strict=True)]

    def _checked(self, states: Any, x: TensorVariable) -> list[TensorVariable]:
        """Return the states before the first position, in the dtype of `x`."""
        name = type(self).__name__
        if len(states) != self.states:
            raise ValueError(f"{name}: state must be {self.states} arrays, got {len(states)}")
        variables = [pt.cast(pt.as_tensor_variable(v), x.type.dtype) for v in states]
        rows = self.num_layers * (1 + self.bidirectional)
        shape = rows, lengths_of(x)[0], self.hidden_size
        why = "(layers and directions, batch, hidden)"
        variables = [of_shape(name, "state", v, shape, why) for v in variables]
        # What isn't known yet is checked when it is
        return [pt.specify_shape(v, (rows, None, None)) for v in variables]

    def _direction(
        self, x: TensorVariable, layer: int, backwards: bool, begin: list[TensorVariable] | None
    ) -> list[TensorVariable]:
        """Return hidden states at all positions of (length, batch, features), and the last ones."""
        end = f"l{layer}{'_reverse' * backwards}"
        biased = hasattr(self, f"bias_ih_{end}")
        kinds = ("weight", "bias")[: 1 + biased]
        parameters = [getattr(self, f"{kind}_{of}_{end}") for of in ("ih", "hh") for kind in kinds]
        given = [x, *parameters, *map(pt.as_tensor_variable, begin or [])]
        inputs = [v.type() for v in given]
        outputs = self._loop(*inputs, backwards=backwards, count=len(kinds))
        op = Recurrent(inputs, outputs, cell=self.cell, backwards=backwards, biased=biased)
        made: Any = op(*given, return_list=True)
        return list(made)

    def _loop(
        self, x: TensorVariable, *rest: TensorVariable, backwards: bool, count: int
    ) -> list[TensorVariable]:
        """Return what `_direction` does; `rest` are twice `count` parameters, then states."""
        own, of_state, begin = rest[:count], rest[count : 2 * count], list(rest[2 * count :])
        projected = pt.nn.linear(x, *own)  # of all positions at once
        if not begin:
            zeros = pt.zeros((x.shape[1], self.hidden_size), dtype=projected.type.dtype)
            begin = [zeros] * self.states

        def step(x: TensorVariable, *rest: TensorVariable) -> list[TensorVariable]:
            state, parameters = rest[: self.states], rest[self.states :]
            return list(self._cell(x, pt.nn.linear(state[0], *parameters), *state))

        outputs: Any = pytensor.scan(
            step, [projected], begin, list(of_state), go_backwards=backwards, return_list=True,
            return_updates=False,
        )  # fmt: skip
        y = outputs[0][::-1] if backwards else outputs[0]
        return [y, *(each[-1] for each in outputs)]


class LSTM(_Recurrent):
    """Run a long short-term memory along sequences (Hochreiter and Schmidhuber, 1997).

    Parameters
    ----------
    input_size : int
        Features at a position.
    hidden_size : int
    num_layers : int
        Each reads the outputs of the one before it.
    bias : bool
    bidirectional : bool
        Whether each layer reads the sequence backwards, too.

    Notes
    -----
    The batch comes first, as in PyTorch with ``batch_first=True``.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor import layers
    >>> outputs, (last, cell) = layers.LSTM(4, 16)(pt.tensor3("x"))
    >>> outputs.type.ndim, last.type.ndim
    (3, 3)
    """

    cell, gates, states = "LSTM", 4, 2

    def __call__(
        self, x: TensorLike, state: tuple[TensorLike, TensorLike] | None = None
    ) -> tuple[TensorVariable, tuple[TensorVariable, TensorVariable]]:
        """Run along (batch, length, features).

        Parameters
        ----------
        x : tensor_like, shape (batch, length, features)
        state : pair of tensor_like, shape (layers and directions, batch, hidden), optional
            Hidden and cell state before the first position; zeros by default.

        Returns
        -------
        y : TensorVariable, shape (batch, length, hidden), or twice as many if bidirectional
            Hidden states of the last layer.
        state : pair of TensorVariable, shape (layers and directions, batch, hidden)
            After the last position.
        """
        y, (hidden, cell) = self._run(x, None if state is None else list(state))
        return y, (hidden, cell)

    def _cell(
        self, x: TensorVariable, projected: TensorVariable, hidden: TensorVariable,
        cell: TensorVariable,
    ) -> tuple[TensorVariable, ...]:  # fmt: skip
        write, keep, new, emit = self._parts(x + projected)
        cell = pt.sigmoid(keep) * cell + pt.sigmoid(write) * pt.tanh(new)
        return pt.sigmoid(emit) * pt.tanh(cell), cell


class GRU(_Recurrent):
    """Run a gated recurrent unit along sequences, in PyTorch's form (Cho et al., 2014).

    Parameters
    ----------
    input_size : int
        Features at a position.
    hidden_size : int
    num_layers : int
        Each reads the outputs of the one before it.
    bias : bool
    bidirectional : bool
        Whether each layer reads the sequence backwards, too.

    Notes
    -----
    The batch comes first, as in PyTorch with ``batch_first=True``.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor import layers
    >>> outputs, last = layers.GRU(4, 16)(pt.tensor3("x"))
    >>> outputs.type.ndim, last.type.ndim
    (3, 3)
    """

    cell, gates, states = "GRU", 3, 1

    def __call__(
        self, x: TensorLike, state: TensorLike | None = None
    ) -> tuple[TensorVariable, TensorVariable]:
        """Run along (batch, length, features).

        Parameters
        ----------
        x : tensor_like, shape (batch, length, features)
        state : tensor_like, shape (layers and directions, batch, hidden), optional
            Before the first position; zeros by default.

        Returns
        -------
        y : TensorVariable, shape (batch, length, hidden), or twice as many if bidirectional
            Hidden states of the last layer.
        state : TensorVariable, shape (layers and directions, batch, hidden)
            After the last position.
        """
        y, (hidden,) = self._run(x, None if state is None else [state])
        return y, hidden

    def _cell(
        self, x: TensorVariable, projected: TensorVariable, hidden: TensorVariable
    ) -> tuple[TensorVariable, ...]:
        (reset, keep, new), (reset_too, keep_too, old) = self._parts(x), self._parts(projected)
        new = pt.tanh(new + pt.sigmoid(reset + reset_too) * old)
        return (new + pt.sigmoid(keep + keep_too) * (hidden - new),)
