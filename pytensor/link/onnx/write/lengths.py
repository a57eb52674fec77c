"""What depends on lengths, which are ints where known and terms of one entry otherwise."""

from pytensor.link.onnx.write.term import where


def all_known(lengths):
    return all(isinstance(length, int) for length in lengths)


def split_pairs(pairs):
    """Separate (before, after) pairs into ONNX's list of befores and list of afters."""
    before, after = zip(*pairs, strict=True)
    return [int(pad) for pad in before], [int(pad) for pad in after]


def one_if_empty(length):
    """Return 1 where an axis of this length is empty, else 0."""
    return int(length == 0) if isinstance(length, int) else where(length == 0, 1, 0)


def pad(x, pairs, fill=0, axes=None):
    """Add cells before and after each of `axes`, by default the last, as many as `pairs` says."""
    if all(isinstance(n, int) and n == 0 for pair in pairs for n in pair):
        return x
    before, after = zip(*pairs, strict=True)
    axes = range(-len(pairs), 0) if axes is None else axes
    return x.node("Pad", [*before, *after], x.lift(fill), axes)


def crop(x, starts, lengths, axes):
    """Take `lengths` cells from `starts` on along `axes`."""
    ends = [start + length for start, length in zip(starts, lengths, strict=True)]
    return x.slice(starts, ends, axes)


def matmul_or_zeros(x, y, inner):
    """Multiply matrices; zeros where `inner`, the length that is summed over, is 0.

    onnxruntime leaves sums over no terms uninitialized.
    """
    result = x @ y
    if isinstance(inner, int):
        return result if inner > 0 else where(x.builder.constant(True), 0, result)
    return where(inner == 0, 0, result)
