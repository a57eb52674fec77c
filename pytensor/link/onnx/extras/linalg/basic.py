"""What the converters of linear algebra share.

Matrices have any batch axes in front of their own two.  An algorithm is a Loop over rows or
columns, whose number may be known at run time only; a step works on all matrices of the batch.
"""



class Matrices:
    """Writes ONNX nodes for square matrices of one order and of the dtype of `like`.

    The order is known, or the length of `like` along axis -2; `ndim` counts the batch's axes too.
    """

    def __init__(self, like, ndim, order=None):
        self.builder = like.builder
        self.dtype = like.dtype
        self.ndim = ndim
        # With negative axes, onnxruntime doesn't reduce what has no entries.
        # thoughts/upstream/onnxruntime-empty-tensors.md
        self.axes = [ndim - 2, ndim - 1]
        self.order = like.size(-2) if order is None else self.builder.constant(order, "int64")
        self.positions = self.builder.arange(self.order)
        self.rows = self.positions.unsqueeze(1)

    def row(self, x, index):
        """Return row `index` of matrices, as matrices of one row."""
        return x.gather(index.unsqueeze(0), axis=-2)

    def column(self, x, index):
        return x.gather(index.unsqueeze(0), axis=-1)

    def diagonal(self, x):
        """Return the diagonals, as matrices of one column."""
        return x.gather_elements(self.row_numbers(x), axis=-1)

    def row_numbers(self, x):
        """Return the number of each row of `x`, as matrices of one column."""
        return self.rows.expand([x.sizes(end=-1), 1])

    def identity(self):
        return (self.rows == self.positions).cast(self.dtype)

    def zeros_like(self, x):
        return self.builder.constant(0, self.dtype).expand_as(x)

    def triangle(self, x, *, lower, strict=False):
        """Return matrices with zeros but in one triangle, which may leave out the diagonal."""
        k = (-1 if lower else 1) if strict else 0
        return x.node("Trilu", self.builder.constant(k, "int64"), upper=int(not lower))

    def transpose(self, x):
        last = self.ndim - 1
        return x.transpose(*range(last - 1), last, last - 1)

    def symmetric(self, x, *, lower):
        """Copy one triangle to the other."""
        other = self.transpose(self.triangle(x, lower=lower, strict=True))
        return self.triangle(x, lower=lower) + other

    def any(self, x):
        """Return whether any entry of each matrix is true, as matrices of one entry."""
        return x.cast("int64").reduce_sum(self.axes, keepdims=True) > 0

    def largest(self, x):
        """Return the largest magnitude in each matrix, or zero, as matrices of one entry."""
        # Of no entries it would be minus infinity.
        return abs(x).reduce_max(self.axes, keepdims=True).node("Max", 0)

    def loop(self, step, *state, count=None, may_end=False):
        """Repeat ``state = step(k, *state)`` for each row k, or `count` times.

        The state is matrices.  With `may_end`, `step` first returns whether there is to be another
        one.
        """
        count = self.order if count is None else count
        shapes = [(None,) * self.ndim] * len(state)
        return self.builder.loop(step, state, count=count, may_end=may_end, shapes=shapes)


def matrices_of(node, x, output=0):
    """Return `Matrices` for the first input of a node, and that input in the dtype of an output."""
    shape = node.inputs[0].type.shape
    x = x.cast(node.outputs[output].type.dtype)
    return Matrices(x, len(shape), shape[-2]), x

