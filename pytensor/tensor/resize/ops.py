"""The Ops behind `pytensor.tensor.resize`."""

import numpy as np

import pytensor.tensor.math as ptm
from pytensor.gradient import DisconnectedType, disconnected_type, grad
from pytensor.graph.basic import Variable
from pytensor.graph.facts import Layout, layout, precision
from pytensor.tensor.basic import as_tensor_variable, cast, constant, switch
from pytensor.tensor.batching import batch_rule, leading_batch, own_batch_axes, shifted
from pytensor.tensor.known_lengths import cells_are_left, numbers_below
from pytensor.tensor.moments import accumulation_dtype
from pytensor.tensor.resize.taps import (
    COORDINATES,
    Axis,
    Symbolic,
    crop_coordinates,
    nearest_cells,
    transpose_taps,
    weighted_cells,
)
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.symbolic import TensorSymbolicOp


class Resize(TensorSymbolicOp):
    """Resample some axes, one after the other, each as a weighted sum of lookups.

    Properties are the arguments of `pytensor.tensor.resize`, normalised: one of `size` and `scale`
    is None, the other has an entry for each of `axes`, which aren't negative; `nearest_mode` is ""
    unless `mode` is "nearest", `cubic_coeff_a` is 0.0 unless it is "cubic", and `roi` is () unless
    `coordinate_transformation_mode` is "tf_crop_and_resize".
    """

    __props__ = (
        "size",
        "scale",
        "axes",
        "mode",
        "coordinate_transformation_mode",
        "nearest_mode",
        "cubic_coeff_a",
        "exclude_outside",
        "antialias",
        "roi",
        "extrapolation_value",
        "keep_aspect_ratio_policy",
    )

    @property
    def n_spatial(self):
        return len(self.axes)

    @property
    def has_fixed_lengths(self):
        """Return whether the resized axes have the lengths `size`, whatever the input's are."""
        return self.scale is None and self.keep_aspect_ratio_policy == "stretch"

    @property
    def has_computed_size(self):
        """Return whether run time decides a length; then only the inner graph is of use."""
        return any(isinstance(n, Variable) for n in self.size or ())

    def _rounded(self, lengths, i, xp):
        """Return the length of the resized axis number `i` afterwards, a float, and its factor."""
        if self.scale is not None:
            factor = np.float64(self.scale[i])
            return xp.floor(lengths[i] * factor), factor
        choose = {"not_larger": xp.minimum, "not_smaller": xp.maximum}
        choose = choose[self.keep_aspect_ratio_policy]
        factor = self.size[0] / lengths[0]
        for size, other in zip(self.size[1:], lengths[1:], strict=True):
            factor = choose(factor, size / other)
        return xp.floor(factor * lengths[i] + 0.5), factor

    def target(self, lengths, i, xp=np):
        """Return the `Axis` of the resized axis number `i`.

        `lengths` belong to all resized axes of the input: integers, or scalar variables with
        ``xp=Symbolic``.
        """
        length = lengths[i]
        if self.has_fixed_lengths:
            out = self.size[i]
            return Axis(length, out, out / length, out)
        out, factor = self._rounded(lengths, i, xp)
        if xp is Symbolic:
            out = cast(out, "int64")
            return Axis(length, cells_are_left(out, out >= 1), factor, length * factor)
        if out < 1:
            given = f"scale={self.scale[i]}" if self.size is None else f"size={self.size}"
            raise ValueError(
                f"resize: {given} leaves no cell of length {length} along axis {self.axes[i]}; "
                f"use a larger one"
            )
        return Axis(length, int(out), factor, length * factor)

    def output_lengths(self, lengths):
        """Return the lengths of the resized axes afterwards, for integers."""
        return tuple(self.target(lengths, i).out for i in range(len(lengths)))

    def places(self, lengths, i, xp=np):
        """Return the `Axis`, and where on the input's each output cell lies; see `target`."""
        axis = self.target(lengths, i, xp)
        cells = numbers_below(axis.out) if xp is Symbolic else np.arange(axis.out)
        cells = cells * np.float64(1)
        if self.roi:
            start, end = self.roi[i], self.roi[self.n_spatial + i]
            return axis, crop_coordinates(cells, axis, start, end, xp)
        return axis, COORDINATES[self.coordinate_transformation_mode](cells, axis, xp)

    def taps(self, lengths, i, xp=np):
        """Return what each output cell reads along the resized axis number `i`; see `target`.

        Cells are integers of shape (out, taps), weights float64 of the same shape, or None for one
        tap of weight 1.
        """
        axis, x = self.places(lengths, i, xp)
        if self.mode == "nearest":
            return nearest_cells(x, axis, self.nearest_mode, xp)[:, None], None
        return weighted_cells(
            x, axis, self.mode, self.cubic_coeff_a, self.antialias, self.exclude_outside, xp
        )

    def outside(self, lengths, i, xp=np):
        """Return which output cells lie outside of the resized axis number `i`; see `target`."""
        axis, x = self.places(lengths, i, xp)
        return xp.greater(0, x) | xp.greater(x, axis.length - 1)

    def known_lengths(self, type_):
        """Return the lengths of the resized axes of an input of this type, None where unknown.

        What is known of one axis is no use if the lengths of all decide about its factor.
        """
        lengths = [type_.shape[axis] for axis in self.axes]
        if self.keep_aspect_ratio_policy != "stretch" and None in lengths:
            return [None] * len(lengths)
        return lengths

    def build_inner_graph(self, x):
        known = self.known_lengths(x.type)
        variables = [x.shape[axis] for axis in self.axes]
        out = cast(x, accumulation_dtype(x.type.dtype))
        shape, outside = list(x.type.shape), None
        for i, axis in enumerate(self.axes):
            is_open = known[i] is None or self.has_computed_size
            how = (variables, i, Symbolic) if is_open else (known, i)
            out = lookup(out, *self.taps(*how), axis)
            shape[axis] = self._known_output_length(known, i)
            if self.roi:
                mask = _along(self.outside(*how), axis, x.type.ndim)
                outside = mask if outside is None else outside | mask
        if outside is not None:
            out = switch(outside, np.asarray(self.extrapolation_value, out.type.dtype), out)
        return [specify_shape(cast(out, x.type.dtype), shape)]

    def _known_output_length(self, known, i):
        if self.has_fixed_lengths:
            return None if isinstance(self.size[i], Variable) else self.size[i]
        return None if known[i] is None else self.target(known, i).out

    def infer_shape(self, node, shapes):
        shape = list(shapes[0])
        lengths = [shape[axis] for axis in self.axes]
        for i, axis in enumerate(self.axes):
            if self.has_fixed_lengths:
                shape[axis] = constant(self.size[i], dtype="int64")
            elif self.scale is not None and self.scale[i].is_integer():
                # Lengths made by plain arithmetic are known while a backend traces
                shape[axis] = lengths[i] * int(self.scale[i])
            else:
                shape[axis] = cast(self._rounded(lengths, i, Symbolic)[0], "int64")
        return [tuple(shape)]

    def linear_part(self):
        """Return the Op without what it adds to a linear map of the input."""
        props = {name: getattr(self, name) for name in self.__props__}
        return Resize(**props | {"extrapolation_value": 0.0})

    def pullback(self, inputs, outputs, cotangents):
        (x,) = inputs
        (cotangent,) = cotangents
        if isinstance(cotangent.type, DisconnectedType):
            return [disconnected_type()]
        return [ResizeGrad(op=self.linear_part())(x, cotangent)]

    def pushforward(self, inputs, outputs, tangents):
        (tangent,) = tangents
        if isinstance(tangent.type, DisconnectedType):
            return [disconnected_type()]
        return [self.linear_part()(tangent)]


class ResizeGrad(TensorSymbolicOp):
    """Transpose of the linear map that a `Resize` is, which has an extrapolation value of zero.

    Inputs are the Op's input, of which only the shape counts, and the gradient of its output.
    """

    __props__ = ("op",)

    def build_inner_graph(self, x, cotangent):
        known = self.op.known_lengths(x.type)
        taps = [] if None in known else self.taps(known)
        if not taps or any(cells is None for cells, _ in taps):
            (out,) = self.op.build_inner_graph(x)
            return [cast(grad(None, x, known_grads={out: cotangent}), x.type.dtype)]
        ndim = x.type.ndim
        out = cast(cotangent, accumulation_dtype(x.type.dtype))
        for i, axis in enumerate(self.op.axes):
            if self.op.roi:
                out = switch(_along(self.op.outside(known, i), axis, ndim), _zero(out), out)
        for axis, (cells, weights) in zip(self.op.axes, taps, strict=True):
            out = lookup(out, cells, weights, axis)
        return [specify_shape(cast(out, x.type.dtype), x.type.shape)]

    def taps(self, lengths):
        """Return taps of the transposed map for each resized axis; see `transpose_taps`."""
        return [transpose_taps(*self.op.taps(lengths, i), n) for i, n in enumerate(lengths)]

    def infer_shape(self, node, shapes):
        return [shapes[0]]

    def pullback(self, inputs, outputs, cotangents):
        (cotangent,) = cotangents
        if isinstance(cotangent.type, DisconnectedType):
            return [disconnected_type(), disconnected_type()]
        return [disconnected_type(), self.op(cotangent)]

    def pushforward(self, inputs, outputs, tangents):
        x, _ = inputs
        _, tangent = tangents
        if isinstance(tangent.type, DisconnectedType):
            return [disconnected_type()]
        return [self(x, tangent)]


def _along(vector, axis, ndim):
    """Return a vector along one of `ndim` axes."""
    order = ["x"] * ndim
    order[axis] = 0
    return as_tensor_variable(vector).dimshuffle(order)


def _zero(x):
    return np.zeros((), x.type.dtype)


def lookup(x, cells, weights, axis):
    """Return the weighted sum of the cells of `x` along `axis`; see `Resize.taps`."""
    index = (slice(None),) * axis
    if weights is None:
        return x[(*index, cells[:, 0])]
    order = ["x"] * axis + [0, 1] + ["x"] * (x.type.ndim - axis - 1)
    factors = as_tensor_variable(weights.astype(x.type.dtype)).dimshuffle(order)
    products = x[(*index, cells)] * factors
    # What has no weight isn't read: zero times NaN would be NaN.
    none = weights == 0 if isinstance(weights, np.ndarray) else ptm.eq(weights, 0)
    if not isinstance(none, np.ndarray) or none.any():
        none = as_tensor_variable(none).dimshuffle(order)
        products = switch(none, _zero(x), products)
    return ptm.sum(products, axis=axis + 1)


@shifted.register(Resize)
def _(op, n):
    props = {name: getattr(op, name) for name in op.__props__}
    return Resize(**props | {"axes": tuple(axis + n for axis in op.axes)})


@own_batch_axes.register(Resize)
def _(op, ndim):
    return [axis for axis in range(ndim) if axis not in op.axes]


shifted.register(ResizeGrad, lambda op, n: ResizeGrad(op=shifted(op.op, n)))
own_batch_axes.register(ResizeGrad, lambda op, ndim: own_batch_axes(op.op, ndim))

for _op_class in (Resize, ResizeGrad):
    batch_rule(_op_class)(leading_batch)
    layout.register(_op_class, lambda op: Layout())
    precision.register(_op_class, lambda op: "cheap")
