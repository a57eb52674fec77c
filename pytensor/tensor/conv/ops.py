"""Convolution over any number of spatial axes, and its two gradients, as Ops.

Axes are ``(batch, channels, *spatial)`` for images and ``(out channels, in channels / groups,
*kernel)`` for filters.  The three Ops share one set of properties and are closed under
differentiation: each one's pullback is made of the other two, so gradients of any order exist.

`ConvGradInput` and `ConvGradFilters` take the variable whose gradient they compute as their first
or second input, for its shape alone.  A shape passed as numbers could not be known while JAX
traces a function with symbolic image sizes; the array's own shape always is.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.scalar import upcast
from pytensor.tensor.basic import as_tensor_variable, cast
from pytensor.tensor.type import float_dtypes, tensor


def conv_output_length(length, kernel, pad, stride, dilation):
    """Length of a convolution's output along one axis; works on integers and on variables."""
    effective = (kernel - 1) * dilation + 1
    return (length + pad[0] + pad[1] - effective) // stride + 1


class BaseConv(Op):
    """What the convolution and its gradients share: properties, checks, shapes, NumPy pieces.

    Parameters
    ----------
    border_mode : tuple of (int, int), or "half" or "full"
        Zeros before and after each spatial axis.  The two names are kept as names only where the
        size of the kernel isn't known when the graph is built.
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

    def like(self, op_class):
        """The Op of another of the three classes with these properties."""
        return op_class(**{name: getattr(self, name) for name in self.__props__})

    def pads(self, kernel_shape):
        """Padding before and after each spatial axis for a kernel of this spatial shape.

        Accepts integers or symbolic scalars in `kernel_shape`.
        """
        if self.border_mode not in ("half", "full"):
            return self.border_mode
        effective = [
            (k - 1) * d + 1 for k, d in zip(kernel_shape, self.filter_dilation, strict=True)
        ]
        if self.border_mode == "half":
            return tuple((e // 2, e // 2) for e in effective)
        return tuple((e - 1, e - 1) for e in effective)

    def output_spatial_shape(self, image_shape, kernel_shape):
        """Spatial shape of the convolution's output; integers or variables."""
        return tuple(
            conv_output_length(*axis)
            for axis in zip(
                image_shape,
                kernel_shape,
                self.pads(kernel_shape),
                self.subsample,
                self.filter_dilation,
                strict=True,
            )
        )

    def _static_output_spatial_shape(self, image_shape, kernel_shape):
        """As `output_spatial_shape`, with None for axes that aren't known."""
        known = [None not in pair for pair in zip(image_shape, kernel_shape, strict=True)]
        shape = self.output_spatial_shape(
            [i if k else 0 for i, k in zip(image_shape, known, strict=True)],
            [w if k else 1 for w, k in zip(kernel_shape, known, strict=True)],
        )
        for axis, (length, k) in enumerate(zip(shape, known, strict=True)):
            if k and length < 1:
                raise ValueError(
                    f"convolution: the kernel (size {kernel_shape[axis]}, dilation "
                    f"{self.filter_dilation[axis]}) is larger than the padded image (size "
                    f"{image_shape[axis]}, padding {self.pads_or_name(kernel_shape, axis)}) "
                    f"along spatial axis {axis}; use more padding or a smaller kernel"
                )
        return tuple(length if k else None for length, k in zip(shape, known, strict=True))

    def pads_or_name(self, kernel_shape, axis):
        if self.border_mode in ("half", "full") and kernel_shape[axis] is None:
            return self.border_mode
        return self.pads([1 if k is None else k for k in kernel_shape])[axis]

    def _as_operands(self, *operands):
        """Convert to tensors of one floating-point dtype and this Op's rank."""
        operands = [as_tensor_variable(v) for v in operands]
        for v in operands:
            if v.type.ndim != self.n_spatial + 2:
                raise ValueError(
                    f"convolution over {self.n_spatial} spatial axes needs inputs and filters "
                    f"with {self.n_spatial + 2} axes, got {v} with {v.type.ndim}"
                )
            if v.type.dtype not in float_dtypes:
                raise TypeError(
                    f"convolution needs floating-point inputs and filters, got {v} of dtype "
                    f"{v.type.dtype}; cast it first"
                )
        dtype = upcast(*[v.type.dtype for v in operands])
        return [v if v.type.dtype == dtype else cast(v, dtype) for v in operands], dtype

    def _check_channels(self, image_shape, filter_shape):
        """Check static or run-time shapes (None where unknown) against the groups."""
        in_channels, out_channels, per_group = image_shape[1], filter_shape[0], filter_shape[1]
        groups = self.num_groups
        if in_channels is not None and in_channels % groups:
            raise ValueError(
                f"convolution: the input's {in_channels} channels don't divide into "
                f"num_groups={groups} groups"
            )
        if out_channels is not None and out_channels % groups:
            raise ValueError(
                f"convolution: the {out_channels} filters don't divide into "
                f"num_groups={groups} groups"
            )
        if None not in (in_channels, per_group) and per_group * groups != in_channels:
            raise ValueError(
                f"convolution: filters for {per_group} channels x {groups} groups don't match "
                f"an input of {in_channels} channels"
            )

    # -- NumPy pieces.  `columns` is im2col: one row per output position, one matrix per group.

    def _run_time_shapes(self, image_shape, filter_shape):
        self._check_channels(image_shape, filter_shape)
        kernel_shape = filter_shape[2:]
        output_shape = self._static_output_spatial_shape(image_shape[2:], kernel_shape)
        return kernel_shape, self.pads(kernel_shape), output_shape

    def _columns(self, image, kernel_shape, pads, output_shape):
        """Rows of patches, shape (groups, batch * positions, channels / groups * taps)."""
        n, groups = self.n_spatial, self.num_groups
        padded = np.pad(image, ((0, 0), (0, 0), *pads))
        effective = [
            (k - 1) * d + 1 for k, d in zip(kernel_shape, self.filter_dilation, strict=True)
        ]
        windows = sliding_window_view(padded, effective, axis=range(2, 2 + n))
        strides = [slice(None, None, s) for s in self.subsample]
        taps = [slice(None, None, d) for d in self.filter_dilation]
        windows = windows[(slice(None), slice(None), *strides, *taps)]
        batch, channels = image.shape[:2]
        windows = windows.reshape(batch, groups, channels // groups, *output_shape, *kernel_shape)
        order = (1, 0, *range(3, 3 + n), 2, *range(3 + n, 3 + 2 * n))
        rows = batch * int(np.prod(output_shape))
        taps = channels // groups * int(np.prod(kernel_shape))
        return windows.transpose(order).reshape(groups, rows, taps)

    def _filter_matrix(self, filters):
        """Filters as (groups, channels / groups * taps, out channels / groups)."""
        if self.filter_flip:
            filters = np.flip(filters, range(2, filters.ndim))
        out_channels = filters.shape[0]
        taps = int(np.prod(filters.shape[1:]))
        return filters.reshape(
            self.num_groups, out_channels // self.num_groups, taps
        ).transpose(0, 2, 1)

    def _cotangent_matrix(self, cotangent):
        """Output gradient as (groups, batch * positions, out channels / groups)."""
        batch, out_channels, *spatial = cotangent.shape
        per_group = out_channels // self.num_groups
        grouped = cotangent.reshape(batch, self.num_groups, per_group, *spatial)
        order = (1, 0, *range(3, 3 + self.n_spatial), 2)
        rows = batch * int(np.prod(spatial))
        return grouped.transpose(order).reshape(self.num_groups, rows, per_group)


class Conv(BaseConv):
    """Convolution (or, without `filter_flip`, cross-correlation) of images with filters."""

    def make_node(self, image, filters):
        (image, filters), dtype = self._as_operands(image, filters)
        self._check_channels(image.type.shape, filters.type.shape)
        spatial = self._static_output_spatial_shape(image.type.shape[2:], filters.type.shape[2:])
        shape = (image.type.shape[0], filters.type.shape[0], *spatial)
        return Apply(self, [image, filters], [tensor(dtype=dtype, shape=shape)])

    def infer_shape(self, node, shapes):
        image, filters = shapes
        return [(image[0], filters[0], *self.output_spatial_shape(image[2:], filters[2:]))]

    def perform(self, node, inputs, output_storage):
        image, filters = inputs
        kernel, pads, spatial = self._run_time_shapes(image.shape, filters.shape)
        product = self._columns(image, kernel, pads, spatial) @ self._filter_matrix(filters)
        batch, out_channels = image.shape[0], filters.shape[0]
        product = product.reshape(
            self.num_groups, batch, *spatial, out_channels // self.num_groups
        )
        order = (1, 0, product.ndim - 1, *range(2, 2 + self.n_spatial))
        output_storage[0][0] = np.ascontiguousarray(
            product.transpose(order).reshape(batch, out_channels, *spatial)
        )

    def pullback(self, inputs, outputs, cotangents):
        image, filters = inputs
        (cotangent,) = cotangents
        if isinstance(cotangent.type, DisconnectedType):
            return [disconnected_type(), disconnected_type()]
        return [
            self.like(ConvGradInput)(image, filters, cotangent),
            self.like(ConvGradFilters)(image, filters, cotangent),
        ]


class ConvGradInput(BaseConv):
    """Gradient of a convolution for its image; the first input gives the shape alone."""

    def make_node(self, image, filters, cotangent):
        image = as_tensor_variable(image)
        (filters, cotangent), dtype = self._as_operands(filters, cotangent)
        self._check_channels(image.type.shape, filters.type.shape)
        return Apply(
            self, [image, filters, cotangent], [tensor(dtype=dtype, shape=image.type.shape)]
        )

    def infer_shape(self, node, shapes):
        return [shapes[0]]

    def connection_pattern(self, node):
        return [[False], [True], [True]]

    def perform(self, node, inputs, output_storage):
        image, filters, cotangent = inputs
        kernel, pads, spatial = self._run_time_shapes(image.shape, filters.shape)
        columns = self._cotangent_matrix(cotangent) @ self._filter_matrix(filters).swapaxes(1, 2)
        batch, channels, n = image.shape[0], image.shape[1], self.n_spatial
        columns = columns.reshape(
            self.num_groups, batch, *spatial, channels // self.num_groups, *kernel
        )
        # to (batch, groups, channels / groups, *kernel, *positions): a tap's values then are one
        # block that is added to a strided part of the padded image
        order = (1, 0, 2 + n, *range(3 + n, 3 + 2 * n), *range(2, 2 + n))
        columns = columns.transpose(order).reshape(batch, channels, *kernel, *spatial)
        padded_shape = [
            length + lo + hi for length, (lo, hi) in zip(image.shape[2:], pads, strict=True)
        ]
        padded = np.zeros((batch, channels, *padded_shape), dtype=columns.dtype)
        for tap in np.ndindex(*kernel):
            where = tuple(
                slice(t * d, t * d + s * (length - 1) + 1, s)
                for t, d, s, length in zip(
                    tap, self.filter_dilation, self.subsample, spatial, strict=True
                )
            )
            padded[(slice(None), slice(None), *where)] += columns[(slice(None), slice(None), *tap)]
        crop = tuple(
            slice(lo, lo + length)
            for length, (lo, _) in zip(image.shape[2:], pads, strict=True)
        )
        output_storage[0][0] = np.ascontiguousarray(padded[(slice(None), slice(None), *crop)])

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
    """Gradient of a convolution for its filters; the second input gives the shape alone."""

    def make_node(self, image, filters, cotangent):
        filters = as_tensor_variable(filters)
        (image, cotangent), dtype = self._as_operands(image, cotangent)
        self._check_channels(image.type.shape, filters.type.shape)
        return Apply(
            self, [image, filters, cotangent], [tensor(dtype=dtype, shape=filters.type.shape)]
        )

    def infer_shape(self, node, shapes):
        return [shapes[1]]

    def connection_pattern(self, node):
        return [[True], [False], [True]]

    def perform(self, node, inputs, output_storage):
        image, filters, cotangent = inputs
        kernel, pads, spatial = self._run_time_shapes(image.shape, filters.shape)
        columns = self._columns(image, kernel, pads, spatial)
        matrix = self._cotangent_matrix(cotangent).swapaxes(1, 2) @ columns
        gradient = matrix.reshape(filters.shape)
        if self.filter_flip:
            gradient = np.flip(gradient, range(2, gradient.ndim))
        output_storage[0][0] = np.ascontiguousarray(gradient)

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
