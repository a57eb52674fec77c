"""What the converters of linear algebra share.

Matrices have any batch axes in front of their own two.  An algorithm is a Loop over rows or
columns, whose number may be known at run time only; a step works on all matrices of the batch.
"""

from pytensor.link.onnx.dispatch.scalar.basic import any_of
from pytensor.link.onnx.write.builder import as_tuple
from pytensor.link.onnx.write.sizes import count_to, size


class Matrices:
    """Writes ONNX nodes for square matrices of one order and one floating dtype.

    The order is known, or the length of `like` along axis -2; `ndim` counts the batch's axes too.
    """

    def __init__(self, builder, dtype, like, ndim, order=None):
        self.builder = builder
        self.add = builder.add
        self.dtype = dtype
        self.ndim = ndim
        # With negative axes, onnxruntime doesn't reduce what has no entries.
        # thoughts/upstream/onnxruntime-empty-tensors.md
        self.axes = builder.int64s([ndim - 2, ndim - 1])
        if order is None:
            self.order = size(builder, like, -2)
        else:
            self.order = builder.constant(order, "int64")
        self.positions = count_to(builder, self.order)
        self.rows = builder.add("Unsqueeze", self.positions, builder.int64s([1]))

    def constant(self, value):
        return self.builder.constant(value, self.dtype)

    def nan(self):
        return self.constant(float("nan"))

    def row(self, x, index):
        """Return row `index` of matrices, as matrices of one row."""
        return self.add("Gather", x, self._vector(index), axis=-2)

    def column(self, x, index):
        return self.add("Gather", x, self._vector(index), axis=-1)

    def diagonal(self, x):
        """Return the diagonals, as matrices of one column."""
        return self.add("GatherElements", x, self.row_numbers(x), axis=-1)

    def row_numbers(self, x):
        """Return the number of each row of `x`, as matrices of one column."""
        shape = self.add("Concat", self.add("Shape", x, end=-1), self.builder.int64s([1]), axis=0)
        return self.add("Expand", self.rows, shape)

    def identity(self):
        return self.cast_from_bool(self.add("Equal", self.rows, self.positions))

    def cast_from_bool(self, x):
        return self.builder.cast(x, "bool", self.dtype)

    def triangle(self, x, *, lower, strict=False):
        """Return matrices with zeros but in one triangle, which may leave out the diagonal."""
        k = (-1 if lower else 1) if strict else 0
        return self.add("Trilu", x, self.builder.constant(k, "int64"), upper=int(not lower))

    def transpose(self, x):
        last = self.ndim - 1
        return self.add("Transpose", x, perm=[*range(last - 1), last, last - 1])

    def symmetric(self, x, *, lower):
        """Copy one triangle to the other."""
        other = self.transpose(self.triangle(x, lower=lower, strict=True))
        return self.add("Add", self.triangle(x, lower=lower), other)

    def vectors(self, x, axis=-1):
        """Return matrices of one column, or with axis -2 of one row, as vectors."""
        return self.add("Squeeze", x, self.builder.int64s([axis]))

    def any(self, x):
        """Return whether any entry of each matrix is true, as matrices of one entry."""
        count = self.add("ReduceSum", self.builder.cast(x, "bool", "int64"), self.axes)
        return self.add("Greater", count, self.builder.constant(0, "int64"))

    def is_any(self, x):
        """Return whether any entry at all is true, as a scalar."""
        return any_of(self.builder, x)

    def largest(self, x):
        """Return the largest magnitude in each matrix, or zero, as matrices of one entry."""
        largest = self.add("ReduceMax", self.add("Abs", x), self.axes)
        # Of no entries it would be minus infinity.
        return self.add("Max", largest, self.constant(0))

    def loop(self, step, *state, count=None, may_end=False):
        """Repeat ``state = step(k, *state)`` for each row k, or `count` times.

        The state is matrices of `dtype`, or pairs of them and another dtype.  With `may_end`,
        `step` first returns whether there is to be another one.
        """
        builder, shape = self.builder, (None,) * self.ndim
        state = [(entry, self.dtype) if isinstance(entry, str) else entry for entry in state]
        with builder.subgraph() as body:
            k = body.add_input("step", "int64", ())
            condition = body.add_input("condition", "bool", ())
            inner = [body.add_input("state", dtype, shape) for _, dtype in state]
            results = as_tuple(step(k, *inner))
            if may_end:
                condition, *results = results
            builder.output(condition, "bool", ())
            for name, (_, dtype) in zip(results, state, strict=True):
                builder.output(name, dtype, shape)
        initial = [name for name, _ in state]
        results = builder.add(
            "Loop", count or self.order, "", *initial, n_outputs=len(state), body=body
        )
        return as_tuple(results)

    def _vector(self, index):
        return self.add("Unsqueeze", index, self.builder.int64s([0]))


def matrices_of(builder, node, x, output=0):
    """Return `Matrices` for the first input of a node, and that input in the dtype of an output."""
    variable = node.inputs[0]
    dtype = node.outputs[output].type.dtype
    matrices = Matrices(builder, dtype, x, variable.type.ndim, variable.type.shape[-2])
    return matrices, builder.cast(x, variable.type.dtype, dtype)
