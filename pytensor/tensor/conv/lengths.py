"""Count the windows on an axis: for convolutions and pools, in every backend.

An extent is from a window's first to its last cell; a padding is a pair (before, after).
"""

# More than an axis has cells, and less than overflows
LARGE = 2**40


def positive(n):
    """Return ``max(n, 0)`` for an integer variable, only by sums, products and quotients.

    Backends that trace know the results of these, as they must of lengths; not of a maximum.
    """
    return n * (n // LARGE + 1)


def larger(a, b):
    """Return the larger of two integer variables; see `positive`."""
    return b + positive(a - b)


def smaller(a, b):
    """Return the smaller of two integer variables; see `positive`."""
    return a - positive(a - b)


def window_extent(window, dilation):
    """Return the cells from a window's first to its last, for integers or variables.

    A slice of ``window`` entries with the step ``dilation`` is as long.
    """
    return window if dilation == 1 else (window - 1) * dilation + 1


def tap_slices(tap, dilation, stride, windows):
    """Return for each axis where all `windows` have the cell that a `tap` of theirs reads."""
    return tuple(
        slice(t * d, t * d + window_extent(m, s), s)
        for t, d, s, m in zip(tap, dilation, stride, windows, strict=True)
    )


def window_count(length, extent, stride, pad):
    """Return how many windows lie on an axis and its padding, for an integer or a variable.

    Less than 1 where none does.
    """
    return (length + (pad[0] + pad[1]) - extent) // stride + 1


def started_window_count(length, extent, stride, pad, larger=larger, smaller=smaller):
    """Return how many windows there are if the last may reach past the padded end: a variable.

    Each window starts on the image or on the padding before it.  `larger` and `smaller` compare
    lengths of a backend.
    """
    last = larger((length + (pad[0] + pad[1] + stride - 1 - extent)) // stride, 0)
    return smaller(last, (length + (pad[0] - 1)) // stride) + 1


def cells_past_end(length, windows, extent, stride, pad, larger=max):
    """Return how far windows reach past the end of the image: the padding after it that they read.

    For integers, or for variables with a `larger` of theirs.
    """
    return larger((windows - 1) * stride + extent - length - pad[0], 0)


def averaged_cells(
    starts, length, window, pad, dilation, *, include_pad, smaller=smaller, larger=larger
):
    """Return how many cells each window's average is over, along one axis.

    `starts` are the windows' first cells, counted from the padded start.  Cells past the padded end
    never count.  `smaller` and `larger` compare vectors of a backend.
    """

    def cells_before(end):
        # Nothing negative is divided: not all backends round such quotients in the same way
        reach = smaller(larger(end - starts + (dilation - 1), 0), window * dilation)
        return reach // dilation

    if include_pad:
        return cells_before(length + (pad[0] + pad[1]))
    return cells_before(length + pad[0]) - cells_before(pad[0])


def pool_output_length(
    length: int, extent: int, stride: int, pad: tuple[int, int], ignore_border: bool
) -> int:
    """Return the number of windows along one axis of an integer `length`, 0 where none fits.

    `ignore_border` leaves out what `started_window_count` adds.  In plain Python, for Numba too.
    """
    if ignore_border:
        return max((length + (pad[0] + pad[1]) - extent) // stride + 1, 0)
    last = max((length + (pad[0] + pad[1] + stride - 1 - extent)) // stride, 0)
    return min(last, (length + (pad[0] - 1)) // stride) + 1


def adaptive_bins(i, length, windows):
    """Return the first cell, floor(i n / m), and the end, ceil((i + 1) n / m), of window number i.

    For integers, arrays or variables; `length` is n, and `windows` their number m.
    """
    return (i * length) // windows, ((i + 1) * length + (windows - 1)) // windows


def conv_output_length(length, kernel, pad, stride, dilation):
    """Return the length of a convolution's output along one axis, for integers or variables."""
    return window_count(length, window_extent(kernel, dilation), stride, pad)


def conv_transpose_output_length(length, kernel, pad, stride, dilation, output_padding=0):
    """Return the length of a transposed convolution's output, for integers or variables.

    That of an unpooling is the same.
    """
    extent = window_extent(kernel, dilation)
    return (length - 1) * stride + extent + output_padding - pad[0] - pad[1]
