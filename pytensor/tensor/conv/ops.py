"""Convolution over any number of spatial axes, its transpose and its two gradients, as Ops.

Axes are ``(batch, channels, *spatial)`` for images and ``(out channels, in channels / groups,
*kernel)`` for filters.  The four Ops share one set of properties and are closed under
differentiation: each one's pullback is made of the others, so gradients of any order exist.

`ConvTranspose` and `ConvGradInput` compute the same sums; they differ in what says how large the
result is.  `ConvTranspose` finds its shape by arithmetic on the shapes of its inputs.
`ConvGradInput` and `ConvGradFilters` take the variable whose gradient they compute as their first
or second input, only for its shape.  A shape passed as numbers could not be known while a
backend traces a function with symbolic image sizes; the array's own shape always is.
"""

import numpy as np

from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.facts import Layout, layout, precision
from pytensor.graph.op import Op
from pytensor.scalar import upcast
from pytensor.tensor.basic import as_tensor_variable, cast
from pytensor.tensor.batching import batch_rule, shapes_differ
from pytensor.tensor.conv.im2col import correlate, correlate_transposed, filter_gradient
from pytensor.tensor.conv.lengths import (
    conv_output_length,
    conv_transpose_output_length,
    window_extent,
)
from pytensor.tensor.type import float_dtypes, tensor


class BaseConv(Op):
    """What the convolution and its gradients share: properties, checks, shapes.

    Parameters
    ----------
    border_mode : tuple of (int, int), or "half", "full" or "same"
        Zeros before and after each spatial axis.  The names are kept as names only where the size
        of the kernel isn't known when the graph is built.  With a stride of 1 "same" keeps the
        image's size, for even kernels by one zero more after than before.
    subsample, filter_dilation : tuple of int, one per spatial axis
    num_groups : int
    filter_flip : bool
        True for a convolution, which mirrors the kernel; False for a cross-correlation.
    """

    __props__ = ("border_mode", "subsample", "filter_dilation", "num_groups", "filter_flip")

    def __init__(self, *, border_mode, subsample, filter_dilation, num_groups=1, filter_flip=True):
        self.border_mode = border_mode
        self.subsample = tuple(subsample)
        self.filter_dilation = tuple(filter_dilation)
        self.num_groups = num_groups
        self.filter_flip = filter_flip
        self.n_spatial = len(self.subsample)

    @property
    def function_name(self):
        """The user's function, for errors."""
        return f"conv{self.n_spatial}d"

    def like(self, op_class):
        """Return the Op of another of the classes with these properties."""
        return op_class(**{name: getattr(self, name) for name in BaseConv.__props__})

    def repeated(self, times):
        """Return the Op with `times` as many groups."""
        props = {name: getattr(self, name) for name in self.__props__}
        return type(self)(**props | {"num_groups": self.num_groups * times})

    def pads(self, kernel_shape):
        """Return the padding before and after each spatial axis for a kernel of this shape.

        Accepts integers or symbolic scalars in `kernel_shape`.
        """
        if not isinstance(self.border_mode, str):
            return self.border_mode
        extents = [*map(window_extent, kernel_shape, self.filter_dilation)]
        if self.border_mode == "half":
            return tuple((e // 2, e // 2) for e in extents)
        if self.border_mode == "same":
            return tuple(((e - 1) // 2, e // 2) for e in extents)
        return tuple((e - 1, e - 1) for e in extents)

    def for_kernel(self, kernel_shape):
        """Return the same Op with its padding in numbers, if the static `kernel_shape` is known."""
        if None in kernel_shape:
            return self
        properties = {name: getattr(self, name) for name in self.__props__}
        return type(self)(**properties | {"border_mode": self.pads(kernel_shape)})

    def _pad(self, kernel_shape, axis):
        return self.pads([1 if k is None else k for k in kernel_shape])[axis]

    def _per_axis(self, image_shape, kernel_shape):
        return zip(
            image_shape,
            kernel_shape,
            self.pads(kernel_shape),
            self.subsample,
            self.filter_dilation,
            strict=True,
        )

    def output_spatial_shape(self, image_shape, kernel_shape):
        """Return the spatial shape of the convolution's output; integers or variables."""
        return tuple(
            conv_output_length(*axis) for axis in self._per_axis(image_shape, kernel_shape)
        )

    def _static_spatial_shape(self, image_shape, kernel_shape):
        """Return `output_spatial_shape`, with None for axes that aren't known; and which are."""
        for axis, length in enumerate(kernel_shape):
            if length is not None and length < 1:
                raise ValueError(
                    f"{self.function_name}: the kernel must have a length of at least 1 along "
                    f"every spatial axis, got filters with {length} along spatial axis {axis}"
                )
        known = [None not in pair for pair in zip(image_shape, kernel_shape, strict=True)]
        shape = self.output_spatial_shape(
            [i if k else 1 for i, k in zip(image_shape, known, strict=True)],
            [1 if w is None else w for w in kernel_shape],
        )
        return shape, known

    def _static_output_spatial_shape(self, image_shape, kernel_shape):
        shape, known = self._static_spatial_shape(image_shape, kernel_shape)
        for axis, (length, k) in enumerate(zip(shape, known, strict=True)):
            if k and length < 1:
                raise ValueError(
                    f"{self.function_name}: the kernel (size {kernel_shape[axis]}, dilation "
                    f"{self.filter_dilation[axis]}) is larger than the padded image (size "
                    f"{image_shape[axis]}, padding {self._pad(kernel_shape, axis)}) "
                    f"along spatial axis {axis}; use more padding or a smaller kernel"
                )
        return tuple(length if k else None for length, k in zip(shape, known, strict=True))

    def _as_operands(self, **operands):
        """Convert to tensors of one floating-point dtype and this Op's rank."""
        operands = {name: as_tensor_variable(v) for name, v in operands.items()}
        for name, v in operands.items():
            if v.type.ndim != self.n_spatial + 2:
                raise ValueError(
                    f"{self.function_name}: {name} must have {self.n_spatial + 2} axes, "
                    f"{self.n_spatial} of them spatial; got {v.type.ndim} axes in {v}"
                )
            if v.type.dtype not in float_dtypes:
                raise TypeError(
                    f"{self.function_name}: {name} must be of a floating-point dtype, got {v} of "
                    f"dtype {v.type.dtype}; cast it first"
                )
        dtype = upcast(*[v.type.dtype for v in operands.values()])
        return [v if v.type.dtype == dtype else cast(v, dtype) for v in operands.values()], dtype

    def _check_groups(self, count, what):
        if count is not None and count % self.num_groups:
            raise ValueError(
                f"{self.function_name}: {what.format(count)} don't divide into "
                f"{self.num_groups} groups"
            )

    def _check_channels(self, image_shape, filter_shape):
        """Check static or run-time shapes (None where unknown) against the groups."""
        in_channels, per_group = image_shape[1], filter_shape[1]
        self._check_groups(in_channels, "the input's {} channels")
        self._check_groups(filter_shape[0], "the {} filters")
        if None not in (in_channels, per_group) and per_group * self.num_groups != in_channels:
            raise ValueError(
                f"{self.function_name}: filters for {per_group} channels x {self.num_groups} "
                f"groups don't match an input of {in_channels} channels"
            )

    def _check_cotangent(self, image_shape, filter_shape, shape):
        """Check the shape of the output's gradient, all static or all of run time."""
        self._check_channels(image_shape, filter_shape)
        spatial = self._static_output_spatial_shape(image_shape[2:], filter_shape[2:])
        wanted = (image_shape[0], filter_shape[0], *spatial)
        if shapes_differ(wanted, shape):
            raise ValueError(
                f"{self.function_name}: the gradient of the output must have shape {wanted} for "
                f"an input of shape {tuple(image_shape)} and filters of shape "
                f"{tuple(filter_shape)}, got {tuple(shape)}"
            )

    def _run_time_shapes(self, image_shape, filter_shape):
        self._check_channels(image_shape, filter_shape)
        kernel_shape = filter_shape[2:]
        output_shape = self._static_output_spatial_shape(image_shape[2:], kernel_shape)
        return kernel_shape, self.pads(kernel_shape), output_shape

    def _geometry(self, kernel_shape):
        return self.pads(kernel_shape), self.subsample, self.filter_dilation

    def _mirror(self, filters):
        return np.flip(filters, range(2, filters.ndim)) if self.filter_flip else filters


def _in_single_precision(*arrays):
    """Return arrays with float16 as float32, for which BLAS has products."""
    return [a.astype("float32") if a.dtype == "float16" else a for a in arrays]


class Conv(BaseConv):
    """Convolution (or, without `filter_flip`, cross-correlation) of images with filters."""

    def make_node(self, image, filters):
        (image, filters), dtype = self._as_operands(input=image, filters=filters)
        self._check_channels(image.type.shape, filters.type.shape)
        spatial = self._static_output_spatial_shape(image.type.shape[2:], filters.type.shape[2:])
        shape = (image.type.shape[0], filters.type.shape[0], *spatial)
        return Apply(self, [image, filters], [tensor(dtype=dtype, shape=shape)])

    def infer_shape(self, node, shapes):
        image, filters = shapes
        return [(image[0], filters[0], *self.output_spatial_shape(image[2:], filters[2:]))]

    def perform(self, node, inputs, output_storage):
        image, filters = inputs
        kernel, _, spatial = self._run_time_shapes(image.shape, filters.shape)
        dtype = image.dtype
        image, filters = _in_single_precision(image, self._mirror(filters))
        out = correlate(image, filters, spatial, self._geometry(kernel), self.num_groups)
        output_storage[0][0] = out.astype(dtype, copy=False)

    def pullback(self, inputs, outputs, cotangents):
        image, filters = inputs
        (cotangent,) = cotangents
        if isinstance(cotangent.type, DisconnectedType):
            return [disconnected_type(), disconnected_type()]
        return [
            self.like(ConvGradInput)(image, filters, cotangent),
            self.like(ConvGradFilters)(image, filters, cotangent),
        ]


class ConvTranspose(BaseConv):
    """Transpose of a convolution: the gradient of `Conv` for its image, as a layer of its own.

    Filters are ``(in channels, out channels / groups, *kernel)``.

    Parameters
    ----------
    output_padding : tuple of int, one per spatial axis, optional
        How much longer the output is than the shortest that the convolution would map to the
        input's size: at least 0, less than the stride.
    **properties
        As for `BaseConv`, of the convolution.
    """

    __props__ = (*BaseConv.__props__, "output_padding")

    def __init__(self, *, output_padding=None, **properties):
        super().__init__(**properties)
        self.output_padding = (0,) * self.n_spatial if output_padding is None else output_padding

    @property
    def function_name(self):
        return f"conv_transpose{self.n_spatial}d"

    def with_output_padding(self, output_padding):
        """Return the same Op with another output padding."""
        properties = {name: getattr(self, name) for name in BaseConv.__props__}
        return ConvTranspose(**properties, output_padding=output_padding)

    def output_spatial_shape(self, image_shape, kernel_shape):
        """Return the spatial shape of the transposed convolution; integers or variables."""
        return tuple(
            conv_transpose_output_length(*axis, more)
            for axis, more in zip(
                self._per_axis(image_shape, kernel_shape), self.output_padding, strict=True
            )
        )

    def _static_output_spatial_shape(self, image_shape, kernel_shape):
        for axis, length in enumerate(image_shape):
            if length is not None and length < 1:
                raise ValueError(
                    f"{self.function_name}: the input must have a length of at least 1 along "
                    f"every spatial axis, got {length} along spatial axis {axis}"
                )
        shape, known = self._static_spatial_shape(image_shape, kernel_shape)
        for axis, (length, k) in enumerate(zip(shape, known, strict=True)):
            if k and length < 1:
                raise ValueError(
                    f"{self.function_name}: the padding {self._pad(kernel_shape, axis)} takes away "
                    f"all of the output along spatial axis {axis} (input size "
                    f"{image_shape[axis]}, kernel size {kernel_shape[axis]}, dilation "
                    f"{self.filter_dilation[axis]}, stride {self.subsample[axis]}, output padding "
                    f"{self.output_padding[axis]}); use less padding"
                )
        return tuple(length if k else None for length, k in zip(shape, known, strict=True))

    def _check_channels(self, image_shape, filter_shape):
        in_channels, n_filters = image_shape[1], filter_shape[0]
        self._check_groups(in_channels, "the input's {} channels")
        self._check_groups(n_filters, "the {} channels that the filters are for")
        if None not in (in_channels, n_filters) and in_channels != n_filters:
            raise ValueError(
                f"{self.function_name}: filters for {n_filters} channels (their first axis) "
                f"don't match an input of {in_channels} channels"
            )

    def output_shape(self, image_shape, filter_shape):
        """Return the shape of the output; integers or variables."""
        spatial = self.output_spatial_shape(image_shape[2:], filter_shape[2:])
        return (image_shape[0], filter_shape[1] * self.num_groups, *spatial)

    def make_node(self, image, filters):
        (image, filters), dtype = self._as_operands(input=image, filters=filters)
        image_shape, filter_shape = image.type.shape, filters.type.shape
        self._check_channels(image_shape, filter_shape)
        spatial = self._static_output_spatial_shape(image_shape[2:], filter_shape[2:])
        channels = None if filter_shape[1] is None else filter_shape[1] * self.num_groups
        shape = (image_shape[0], channels, *spatial)
        return Apply(self, [image, filters], [tensor(dtype=dtype, shape=shape)])

    def infer_shape(self, node, shapes):
        return [self.output_shape(*shapes)]

    def perform(self, node, inputs, output_storage):
        image, filters = inputs
        kernel, _, _ = self._run_time_shapes(image.shape, filters.shape)
        shape, dtype = self.output_shape(image.shape, filters.shape), image.dtype
        image, filters = _in_single_precision(image, self._mirror(filters))
        out = correlate_transposed(image, filters, shape, self._geometry(kernel), self.num_groups)
        output_storage[0][0] = out.astype(dtype, copy=False)

    def pullback(self, inputs, outputs, cotangents):
        image, filters = inputs
        (cotangent,) = cotangents
        if isinstance(cotangent.type, DisconnectedType):
            return [disconnected_type(), disconnected_type()]
        return [
            self.like(Conv)(cotangent, filters),
            self.like(ConvGradFilters)(cotangent, filters, image),
        ]


class ConvGradInput(BaseConv):
    """Gradient of a convolution for its image; the first input gives only the shape."""

    def make_node(self, image, filters, cotangent):
        image = as_tensor_variable(image)
        (filters, cotangent), dtype = self._as_operands(filters=filters, output_gradient=cotangent)
        self._check_cotangent(image.type.shape, filters.type.shape, cotangent.type.shape)
        return Apply(
            self, [image, filters, cotangent], [tensor(dtype=dtype, shape=image.type.shape)]
        )

    def infer_shape(self, node, shapes):
        return [shapes[0]]

    def connection_pattern(self, node):
        return [[False], [True], [True]]

    def perform(self, node, inputs, output_storage):
        image, filters, cotangent = inputs
        self._check_cotangent(image.shape, filters.shape, cotangent.shape)
        dtype, kernel = cotangent.dtype, filters.shape[2:]
        cotangent, filters = _in_single_precision(cotangent, self._mirror(filters))
        gradient = correlate_transposed(
            cotangent, filters, image.shape, self._geometry(kernel), self.num_groups
        )
        output_storage[0][0] = gradient.astype(dtype, copy=False)

    def pullback(self, inputs, outputs, cotangents):
        _, filters, cotangent = inputs
        (outer,) = cotangents
        if isinstance(outer.type, DisconnectedType):
            return [disconnected_type() for _ in inputs]
        return [
            disconnected_type(),
            self.like(ConvGradFilters)(outer, filters, cotangent),
            self.like(Conv)(outer, filters),
        ]


class ConvGradFilters(BaseConv):
    """Gradient of a convolution for its filters; the second input gives only the shape."""

    def make_node(self, image, filters, cotangent):
        filters = as_tensor_variable(filters)
        (image, cotangent), dtype = self._as_operands(input=image, output_gradient=cotangent)
        self._check_cotangent(image.type.shape, filters.type.shape, cotangent.type.shape)
        return Apply(
            self, [image, filters, cotangent], [tensor(dtype=dtype, shape=filters.type.shape)]
        )

    def infer_shape(self, node, shapes):
        return [shapes[1]]

    def connection_pattern(self, node):
        return [[True], [False], [True]]

    def perform(self, node, inputs, output_storage):
        image, filters, cotangent = inputs
        self._check_cotangent(image.shape, filters.shape, cotangent.shape)
        dtype, kernel = cotangent.dtype, filters.shape[2:]
        image, cotangent = _in_single_precision(image, cotangent)
        gradient = filter_gradient(
            image, cotangent, kernel, self._geometry(kernel), self.num_groups
        )
        gradient = np.ascontiguousarray(self._mirror(gradient))
        output_storage[0][0] = gradient.astype(dtype, copy=False)

    def pullback(self, inputs, outputs, cotangents):
        image, _, cotangent = inputs
        (outer,) = cotangents
        if isinstance(outer.type, DisconnectedType):
            return [disconnected_type() for _ in inputs]
        return [
            self.like(ConvGradInput)(image, outer, cotangent),
            disconnected_type(),
            self.like(Conv)(image, outer),
        ]


@batch_rule(Conv)
def batch_of_conv(op, node, batch):
    """Compute a batch of images with one of filters by groups; a `Blockwise` if B isn't known or 0.

    The number B of elements is a property then, `num_groups`.
    """
    image, filters = batch.inputs
    has_image, has_filters = batch.has
    if not has_filters:
        out = op(batch.merge(image, 0), filters)
        return [batch.part(out, 0, batch.own_lengths(0)[0])]
    channels, groups = batch.own_lengths(1)[0], op.num_groups
    if not has_image:
        out = op(image, batch.merge(filters, 0, groups))
        return [batch.part(out, 1, channels, groups)]
    if not batch.size:
        return None
    out = op.repeated(batch.size)(batch.merge(image, 1), batch.merge(filters, 0))
    return [batch.part(out, 1, channels)]


@batch_rule(ConvTranspose)
def batch_of_conv_transpose(op, node, batch):
    """Compute a batch as that of `Conv`."""
    image, filters = batch.inputs
    has_image, has_filters = batch.has
    if not has_filters:
        out = op(batch.merge(image, 0), filters)
        return [batch.part(out, 0, batch.own_lengths(0)[0])]
    groups = op.num_groups
    channels = batch.own_lengths(1)[1] * groups
    if not has_image:
        out = op(image, batch.merge(filters, 1))
        return [batch.part(out, 1, channels, groups)]
    if not batch.size:
        return None
    out = op.repeated(batch.size)(batch.merge(image, 1), batch.merge(filters, 0))
    return [batch.part(out, 1, channels)]


@batch_rule(ConvGradInput, shapes=(0,))
def batch_of_conv_grad_input(op, node, batch):
    """Compute a batch as that of `Conv`: of filters and of gradients of the output by groups."""
    _, filters, cotangent = batch.inputs
    _, has_filters, has_cotangent = batch.has
    images, channels, *_ = batch.own_lengths(0)
    if not has_filters:
        out = op(batch.merged_shape(0, 0), filters, batch.merge(cotangent, 0))
        return [batch.part(out, 0, images)]
    if not has_cotangent:
        out = op(batch.merged_shape(0, 1), batch.merge(filters, 1), cotangent)
        return [batch.part(out, 1, channels, op.num_groups)]
    if not batch.size:
        return None
    inputs = batch.merged_shape(0, 1), batch.merge(filters, 0), batch.merge(cotangent, 1)
    return [batch.part(op.repeated(batch.size)(*inputs), 1, channels)]


@batch_rule(ConvGradFilters, shapes=(1,))
def batch_of_conv_grad_filters(op, node, batch):
    """Compute a batch as that of `Conv`: of images and of gradients of the output by groups."""
    image, _, cotangent = batch.inputs
    has_image, _, has_cotangent = batch.has
    (out_channels, channels, *_), groups = batch.own_lengths(1), op.num_groups
    if not has_cotangent:
        out = op(batch.merge(image, 1, groups), batch.merged_shape(1, 1), cotangent)
        return [batch.part(out, 1, channels)]
    if not has_image:
        out = op(image, batch.merged_shape(1, 0), batch.merge(cotangent, 1, groups))
        return [batch.part(out, 0, out_channels, groups)]
    if not batch.size:
        return None
    inputs = batch.merge(image, 1), batch.merged_shape(1, 0), batch.merge(cotangent, 1)
    return [batch.part(op.repeated(batch.size)(*inputs), 0, out_channels)]


for _op_class, _layout in (
    (Conv, Layout(images=(0,), gains=True)),
    (ConvGradInput, Layout(images=(0, 2), gains=True)),
    (ConvGradFilters, Layout(images=(0, 2), out=False, gains=True)),
):
    layout.register(_op_class, lambda op, answer=_layout: answer)

precision.register(BaseConv, lambda op: "convolution")
