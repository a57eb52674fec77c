"""Max unpooling: maxima back to where they came from."""

from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import arange, cast, switch, zeros, zeros_like
from pytensor.tensor.batching import batch_rule, lengths_of
from pytensor.tensor.math import all as all_of
from pytensor.tensor.math import eq, ge, prod
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.subtensor import set_subtensor
from pytensor.tensor.symbolic import TensorSymbolicOp


def _as_rows(x, n):
    """Merge the last `n` axes, and those before."""
    leading = x.type.ndim - n
    rows = prod(x.shape[:leading]) if leading else 1
    return x.reshape((rows, prod(x.shape[leading:])))


_no_index_is_negative = CheckAndRaise(IndexError, "max_unpool: an index is negative")


def _positions(indices, n):
    """Return `indices` as rows; they aren't counted from the end, as others are."""
    positions = _as_rows(indices, n)
    return _no_index_is_negative(positions, all_of(ge(positions, 0)))


class MaxUnpool(TensorSymbolicOp):
    """Write entries to positions of zeros; of several for one position the last one stays.

    Inputs are the entries, their int64 positions in the flattened last axes of the output, and the
    lengths of these axes that the property `lengths` has None for.
    """

    __props__ = ("lengths",)

    def all_lengths(self, unknown):
        unknown = iter(unknown)
        return [next(unknown) if length is None else length for length in self.lengths]

    def build_inner_graph(self, x, indices, *unknown):
        lengths = self.all_lengths(unknown)
        n = len(lengths)
        indices = specify_shape(indices, lengths_of(x))
        entries, positions = _as_rows(x, n), _positions(indices, n)
        cells = zeros((entries.shape[0], prod(lengths, dtype="int64")), dtype=x.type.dtype)
        cells = set_subtensor(cells[arange(entries.shape[0])[:, None], positions], entries)
        leading = [
            x.shape[axis] if length is None else length
            for axis, length in enumerate(x.type.shape[:-n])
        ]
        return [cells.reshape((*leading, *lengths))]

    def infer_shape(self, node, shapes):
        return [(*shapes[0][: -len(self.lengths)], *self.all_lengths(node.inputs[2:]))]

    def connection_pattern(self, node):
        return [[True], *([False] for _ in node.inputs[1:])]

    def pullback(self, inputs, outputs, cotangents):
        _, indices, *unknown = inputs
        (cotangent,) = cotangents
        rest = [disconnected_type() for _ in inputs[1:]]
        if isinstance(cotangent.type, DisconnectedType):
            return [disconnected_type(), *rest]
        return [MaxUnpoolGrad(lengths=self.lengths)(cotangent, indices, *unknown), *rest]


class MaxUnpoolGrad(TensorSymbolicOp):
    """Read where `MaxUnpool` writes; 0 for the entries of which nothing stays.

    Inputs are the gradient of its output, and its other inputs.
    """

    __props__ = ("lengths",)

    def build_inner_graph(self, cotangent, indices, *unknown):
        n = len(self.lengths)
        cells, positions = _as_rows(cotangent, n), _positions(indices, n)
        where = (arange(cells.shape[0])[:, None], positions)
        number = arange(positions.shape[1], dtype="int64")[None] + zeros_like(positions)
        writer = set_subtensor(zeros_like(cells, dtype="int64")[where], number)
        # Looked up by number: PyTensor takes what was just written to some positions, and is read
        # from the very same ones, for what is there, though some are equal.
        flat = positions + where[0] * cells.shape[1]
        entries = switch(eq(writer.reshape((-1,))[flat], number), cells[where], 0)
        return [cast(entries, cotangent.type.dtype).reshape(indices.shape)]

    def infer_shape(self, node, shapes):
        return [shapes[1]]

    def connection_pattern(self, node):
        return [[True], *([False] for _ in node.inputs[1:])]

    def pullback(self, inputs, outputs, cotangents):
        rest = [disconnected_type() for _ in inputs[1:]]
        (cotangent,) = cotangents
        if isinstance(cotangent.type, DisconnectedType):
            return [disconnected_type(), *rest]
        return [MaxUnpool(lengths=self.lengths)(cotangent, *inputs[1:]), *rest]


@batch_rule(MaxUnpool)
@batch_rule(MaxUnpoolGrad)
def batch_of_unpool(op, node, batch):
    """Compute a batch at once; a `Blockwise` where the output's lengths may differ within it."""
    lengths = [batch.common(i) for i in range(2, len(node.inputs))]
    if any(length is None for length in lengths):
        return None
    images, indices = batch.full(0), batch.full(1)
    if node.inputs[0].type.ndim == len(op.lengths):
        return op(images, indices, *lengths, return_list=True)
    images, indices = batch.merge(images, 0), batch.merge(indices, 0)
    (out,) = op(images, indices, *lengths, return_list=True)
    return [batch.part(out, 0, batch.own_lengths(0)[0])]
