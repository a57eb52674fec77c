"""Patches of images as rows of a matrix, and back."""

from pytensor.raise_op import Assert
from pytensor.tensor.basic import as_tensor_variable, join, stack, zeros
from pytensor.tensor.conv.basic import per_axis
from pytensor.tensor.math import eq
from pytensor.tensor.subtensor import set_subtensor

__all__ = ["images2neibs", "neibs2images"]

NEIB_MODES = ("valid", "ignore_borders", "half", "full", "wrap_centered")


def _wrap(x, axis, n):
    """Continue `x` periodically by `n` cells on both sides of an axis."""
    if n == 0:
        return x
    lead = (slice(None),) * axis
    return join(axis, x[(*lead, slice(-n, None))], x, x[(*lead, slice(None, n))])


def _check_fit(x, axis, size, step):
    """Mode "valid": patches must tile the axis."""
    length = x.type.shape[axis]
    message = (
        f"images2neibs: patches of {size} at steps of {step} don't tile axis {axis} as mode "
        f"'valid' asks; use mode='ignore_borders'"
    )
    if length is None:
        length = x.shape[axis]
        return Assert(message)(x, eq((length - size) % step, 0))
    if (length - size) % step:
        raise ValueError(f"{message}, for its length is {length}")
    return x


def _patches(x, axis, size, step):
    """Replace `axis` by two: which patch, and where in the patch."""
    lead = (slice(None),) * axis
    # Ends counted from the back are numbers, which JAX needs while it traces
    taps = [x[(*lead, slice(i, (i + 1 - size) or None, step))] for i in range(size)]
    return stack(taps, axis=axis + 1)


def _with_zeros(x, rows, columns):
    # Not pt.pad, whose result has the dtype floatX
    batch, channels, height, width = x.shape
    padded = zeros((batch, channels, height + 2 * rows, width + 2 * columns), dtype=x.type.dtype)
    return set_subtensor(padded[:, :, rows : rows + height, columns : columns + width], x)


def images2neibs(ten4, neib_shape, neib_step=None, mode="valid"):
    """Write the patches of images as rows of a matrix.

    Parameters
    ----------
    ten4 : tensor_like, shape (batch, channels, height, width)
    neib_shape : (int, int)
        Height and width of a patch.
    neib_step : (int, int), optional
        Distance between patches; `neib_shape` by default.
    mode : {"valid", "ignore_borders", "half", "full", "wrap_centered"}
        ``"valid"``: patches must tile the image.  ``"ignore_borders"``: rows and columns that are
        too few for a patch are left out.  ``"half"`` and ``"full"``: ``"valid"`` of the image
        with ``neib_shape // 2`` or ``neib_shape - 1`` zeros on every side.  ``"wrap_centered"``:
        a patch of odd size around each `neib_step`-th pixel, where the image goes on periodically.

    Returns
    -------
    TensorVariable, shape (batch * channels * patches, neib_shape[0] * neib_shape[1])
        In the order of batch, channel, patch row and patch column; each patch row by row.
        Differentiable.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or patches don't tile the image in the modes that
        ask for it (AssertionError where only run time knows).

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> images = pt.constant(np.arange(8.0).reshape(1, 1, 2, 4))
    >>> pt.nnet.neighbours.images2neibs(images, neib_shape=(2, 2)).eval()
    array([[0., 1., 4., 5.],
           [2., 3., 6., 7.]])
    """
    x = as_tensor_variable(ten4)
    if x.type.ndim != 4:
        raise ValueError(f"images2neibs: ten4 must have 4 axes, it has {x.type.ndim}")
    if mode not in NEIB_MODES:
        raise ValueError(f"images2neibs: mode must be one of {NEIB_MODES}, got {mode!r}")
    size = per_axis("images2neibs: neib_shape", neib_shape, 2)
    step = size if neib_step is None else per_axis("images2neibs: neib_step", neib_step, 2)
    if mode == "wrap_centered":
        if size[0] % 2 == 0 or size[1] % 2 == 0:
            raise ValueError(
                f"images2neibs: neib_shape must be odd for mode='wrap_centered', got {neib_shape}"
            )
        for axis, s in zip((2, 3), size, strict=True):
            x = _wrap(x, axis, s // 2)
    elif mode in ("half", "full"):
        x = _with_zeros(x, *(s // 2 if mode == "half" else s - 1 for s in size))
    if mode in ("valid", "half", "full"):
        for axis, s, d in zip((2, 3), size, step, strict=True):
            x = _check_fit(x, axis, s, d)
    # Columns first: their axis moves to the end, out of the way of the rows'
    x = _patches(_patches(x, 3, size[1], step[1]), 2, size[0], step[0])
    # batch, channel, patch row, row in patch, patch column, column in patch
    return x.transpose((0, 1, 2, 4, 3, 5)).reshape((-1, size[0] * size[1]))


def neibs2images(neibs, neib_shape, original_shape, mode="valid"):
    """Put patches that don't overlap back to images: the inverse of `images2neibs`.

    Parameters
    ----------
    neibs : tensor_like, shape (batch * channels * patches, neib_shape[0] * neib_shape[1])
    neib_shape : (int, int)
    original_shape : sequence of 4 ints or integer scalars
        The images' (batch, channels, height, width).
    mode : {"valid", "ignore_borders"}
        As it was for `images2neibs`; with ``"ignore_borders"`` what was left out becomes 0.

    Returns
    -------
    TensorVariable, shape `original_shape`

    Raises
    ------
    ValueError
        If an argument isn't one of those above.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> neibs = pt.constant([[0.0, 1.0, 4.0, 5.0], [2.0, 3.0, 6.0, 7.0]])
    >>> pt.nnet.neighbours.neibs2images(neibs, (2, 2), (1, 1, 2, 4)).eval()[0, 0]
    array([[0., 1., 2., 3.],
           [4., 5., 6., 7.]])
    """
    if mode not in ("valid", "ignore_borders"):
        raise ValueError(
            f"neibs2images: mode must be 'valid' or 'ignore_borders', got {mode!r}"
        )
    neibs = as_tensor_variable(neibs)
    p, q = per_axis("neibs2images: neib_shape", neib_shape, 2)
    batch, channels, height, width = original_shape
    rows, columns = height // p, width // q
    images = neibs.reshape((batch, channels, rows, columns, p, q)).transpose((0, 1, 2, 4, 3, 5))
    images = images.reshape((batch, channels, rows * p, columns * q))
    if mode == "valid":
        return images
    blank = zeros((batch, channels, height, width), dtype=neibs.type.dtype)
    return set_subtensor(blank[:, :, : rows * p, : columns * q], images)
