"""Correlation and its two transposes in NumPy, as products with the matrix of all patches.

A patch is what one output position sees of the image.  As columns of a matrix (im2col) they turn a
correlation into matrix products, which BLAS does; the gradient for the image adds the columns up
again (col2im).  Images are taken a few at a time, so that the matrix stays small.

Shapes are as in `pytensor.tensor.conv.ops`, which checks them; `geometry` is the triple (pads,
stride, dilation), each with one entry per spatial axis.
"""

import math

import numpy as np
from numpy.lib.stride_tricks import as_strided

from pytensor.tensor.conv.lengths import tap_slices

# Bytes of patches that are made at a time.  More don't make the products faster, and would fall
# out of the processor's cache before they are used.
PATCH_BYTES = 4 * 2**20


def correlate(image, filters, spatial, geometry, groups):
    """Correlate images with filters: the output, its spatial shape being `spatial`."""
    batch, out_channels = len(image), len(filters)
    out = np.empty((batch, out_channels, *spatial), dtype=image.dtype)
    matrix = _filter_matrix(filters, groups)
    for part in _parts(image, filters.shape[2:], spatial):
        columns = _patches(image[part], filters.shape[2:], spatial, geometry)
        columns = columns.reshape(len(columns), groups, matrix.shape[2], math.prod(spatial))
        grouped = _grouped(out[part], groups)
        np.matmul(matrix, columns, out=grouped)
    return out


def correlate_transposed(cotangent, filters, image_shape, geometry, groups):
    """Return the gradient of `correlate` for an image of shape `image_shape`."""
    _, channels, *lengths = image_shape
    kernel, spatial = filters.shape[2:], cotangent.shape[2:]
    pads, stride, dilation = geometry
    image = np.empty(image_shape, dtype=cotangent.dtype)
    matrix = _filter_matrix(filters, groups).swapaxes(1, 2)
    for part in _parts(image, kernel, spatial):
        grouped = _grouped(cotangent[part], groups)
        # NumPy has no fast product of a column with a row
        columns = matrix * grouped if matrix.shape[2] == 1 else matrix @ grouped
        columns = columns.reshape(len(columns), channels, *kernel, *spatial)
        padded = [length + lo + hi for length, (lo, hi) in zip(lengths, pads, strict=True)]
        total = np.zeros((len(columns), channels, *padded), dtype=columns.dtype)
        for tap in np.ndindex(*kernel):
            where = tap_slices(tap, dilation, stride, spatial)
            total[(..., *where)] += columns[(slice(None), slice(None), *tap)]
        crop = [slice(lo, lo + length) for length, (lo, _) in zip(lengths, pads, strict=True)]
        image[part] = total[(..., *crop)]
    return image


def filter_gradient(image, cotangent, kernel, geometry, groups):
    """Return the gradient of `correlate` for filters with a kernel of shape `kernel`."""
    _, out_channels, *spatial = cotangent.shape
    n, per_group = len(spatial), image.shape[1] // groups
    gradient = np.zeros(
        (groups, out_channels // groups, per_group * math.prod(kernel)), dtype=cotangent.dtype
    )
    for part in _parts(image, kernel, spatial):
        patches = _patches(image[part], kernel, spatial, geometry)
        # positions of all images side by side: one product per group sums over them
        columns = patches.transpose(*range(1, 2 + n), 0, *range(2 + n, 2 + 2 * n))
        positions = len(patches) * math.prod(spatial)
        columns = columns.reshape(groups, gradient.shape[2], positions)
        rows = np.moveaxis(cotangent[part], 0, 1).reshape(groups, gradient.shape[1], positions)
        gradient += rows @ columns.swapaxes(1, 2)
    return gradient.reshape(out_channels, per_group, *kernel)


def _filter_matrix(filters, groups):
    """Reshape filters to (groups, out channels / groups, channels / groups * taps)."""
    taps = math.prod(filters.shape[1:])
    return np.ascontiguousarray(filters).reshape(groups, len(filters) // groups, taps)


def _grouped(x, groups):
    """Reshape channels to (batch, groups, channels / groups, positions)."""
    return x.reshape(len(x), groups, x.shape[1] // groups, math.prod(x.shape[2:]))


def _parts(image, kernel, spatial):
    """Return slices of the batch whose patches take `PATCH_BYTES`, or one image's."""
    each = image.shape[1] * math.prod(kernel) * math.prod(spatial) * image.itemsize
    step = max(1, PATCH_BYTES // max(1, each))
    return [slice(start, start + step) for start in range(0, len(image), step)]


def _patches(image, kernel, spatial, geometry):
    """Return a view of shape (batch, channels, *kernel, *spatial)."""
    pads, stride, dilation = geometry
    if any(lo or hi for lo, hi in pads):
        lengths = list(zip(image.shape[2:], pads, strict=True))
        shape = [*image.shape[:2], *(length + lo + hi for length, (lo, hi) in lengths)]
        padded = np.zeros(shape, dtype=image.dtype)
        padded[(..., *(slice(lo, lo + length) for length, (lo, _) in lengths))] = image
        image = padded
    steps = image.strides
    by_tap = [step * d for step, d in zip(steps[2:], dilation, strict=True)]
    by_position = [step * s for step, s in zip(steps[2:], stride, strict=True)]
    return as_strided(
        image,
        (*image.shape[:2], *kernel, *spatial),
        (*steps[:2], *by_tap, *by_position),
        writeable=False,
    )
