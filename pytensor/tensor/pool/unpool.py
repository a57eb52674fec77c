"""Max unpooling: maxima back to where they came from."""

from collections.abc import Sequence

from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Variable
from pytensor.scalar import discrete_dtypes
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import arange, as_tensor_variable, cast, switch, zeros, zeros_like
from pytensor.tensor.batching import batch_rule
from pytensor.tensor.conv.basic import is_int, per_axis
from pytensor.tensor.families import Ints, Pairs, family
from pytensor.tensor.math import eq, prod
from pytensor.tensor.pool.arguments import pad_pairs, real_input
from pytensor.tensor.subtensor import set_subtensor
from pytensor.tensor.symbolic import TensorSymbolicOp
from pytensor.tensor.variable import TensorVariable

type OutputSize = Ints | Variable | Sequence[int | Variable] | None


def _as_rows(x, n):
    """Merge the last `n` axes, and those before."""
    leading = x.type.ndim - n
    rows = prod(x.shape[:leading]) if leading else 1
    return x.reshape((rows, prod(x.shape[leading:])))


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
        entries, positions = _as_rows(x, n), _as_rows(indices, n)
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
        cells, positions = _as_rows(cotangent, n), _as_rows(indices, n)
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


def _unpooled(name, n, input, indices, kernel_size, stride, padding, output_size):
    input, indices = real_input(name, input, n), as_tensor_variable(indices)
    if indices.type.ndim != input.type.ndim or any(
        a is not None and b is not None and a != b
        for a, b in zip(input.type.shape, indices.type.shape, strict=True)
    ):
        raise ValueError(
            f"{name}: indices must have the shape of input, got shapes {indices.type.shape} and "
            f"{input.type.shape}"
        )
    if indices.type.dtype not in discrete_dtypes or indices.type.dtype == "bool":
        raise TypeError(f"{name}: indices must be integers, got {indices.type.dtype}")
    ws = per_axis(f"{name}: kernel_size", kernel_size, n, 1)
    stride = ws if stride is None else per_axis(f"{name}: stride", stride, n, 1)
    pad = pad_pairs(f"{name}: padding", padding, n)
    if output_size is None:
        lengths = [
            (m - 1) * s + w - lo - hi
            for m, w, s, (lo, hi) in zip(_lengths(input, n), ws, stride, pad, strict=True)
        ]
    else:
        lengths = _output_lengths(name, output_size, n, input.type.ndim)
    for length in lengths:
        if isinstance(length, int) and length < 1:
            raise ValueError(
                f"{name}: output lengths must be at least 1, got {lengths} from "
                f"kernel_size={ws}, stride={stride}, padding={pad}, output_size={output_size}"
            )
    known = tuple(length if isinstance(length, int) else None for length in lengths)
    unknown = [cast(length, "int64") for length in lengths if not isinstance(length, int)]
    return MaxUnpool(lengths=known)(input, cast(indices, "int64"), *unknown)


def _lengths(x, n):
    first = x.type.ndim - n
    static = x.type.shape[first:]
    return [x.shape[a] if m is None else m for a, m in enumerate(static, start=first)]


def _output_lengths(name, output_size, n, ndim):
    """The last `n` of `output_size`: ints or scalar variables, or a vector variable."""
    if isinstance(output_size, TensorVariable):
        if output_size.type.ndim != 1 or output_size.type.dtype not in discrete_dtypes:
            raise ValueError(
                f"{name}: output_size must be {n} lengths or a vector of integers, got "
                f"{output_size.type}"
            )
        return [output_size[i - n] for i in range(n)]
    lengths = (output_size,) * n if is_int(output_size) else output_size
    if isinstance(lengths, tuple | list) and len(lengths) in (n, ndim):
        lengths = lengths[-n:]
        if all(
            length.type.ndim == 0 and length.type.dtype in discrete_dtypes
            if isinstance(length, TensorVariable)
            else is_int(length)
            for length in lengths
        ):
            return [v if isinstance(v, TensorVariable) else int(v) for v in lengths]
    raise ValueError(
        f"{name}: output_size must be an int, {n} lengths (ints or integer variables), or the "
        f"whole shape, got {output_size!r}"
    )


def _max_unpool(
    n: int, name: str, input: TensorLike, indices: TensorLike, kernel_size: Ints,
    stride: Ints | None = None, padding: Pairs = 0, output_size: OutputSize = None,
) -> TensorVariable:  # fmt: skip
    """Write maxima back to where they came from along {last}, and zeros elsewhere.

    Parameters
    ----------
    input : tensor_like, shape (..., {image}), real numbers
    indices : tensor_like of integers, same shape
        From `max_pool{n}d` with ``return_indices=True``: positions in {last} of the output,
        flattened.
    kernel_size, stride : {ints}
        Those of the pooling; `stride` is `kernel_size` by default.
    padding : {pairs}
        That of the pooling.
    output_size : int, {number} in a tuple, or the image's whole shape, optional
        Lengths of the output in place of those below; variables such as ``x.shape`` too.

    Returns
    -------
    TensorVariable, shape (..., {output}), dtype of `input`
        Without `output_size` each length is
        ``(m - 1) * stride + kernel - padding before - padding after``, `m` being that of
        `input`: that of the smallest image.  Of several entries for one position the last in
        row-major order stays, and takes the gradient.

    Raises
    ------
    ValueError
        If shapes don't agree, or an argument isn't one of those above.
    TypeError
        If `input` is boolean or complex, or `indices` aren't integers.
    """
    return _unpooled(name, n, input, indices, kernel_size, stride, padding, output_size)


max_unpool1d, max_unpool2d, max_unpool3d = family(
    _max_unpool,
    "max_unpool{n}d",
    """
    >>> import pytensor.tensor as pt
    >>> values, indices = pt.constant([[5.0, 6.0]]), pt.constant([[1, 6]])
    >>> pt.max_unpool2d(values, indices, 2).eval()
    array([[0., 5., 0., 0.],
           [0., 0., 6., 0.]])
    """,
)
