"""What several converters share."""


def split_pairs(pairs):
    """Separate (before, after) pairs into ONNX's list of befores and list of afters."""
    before, after = zip(*pairs, strict=True)
    return [int(pad) for pad in before], [int(pad) for pad in after]


def as_tuple(names):
    """Return names of outputs as a tuple; `GraphBuilder.add` returns a single one by itself."""
    return (names,) if isinstance(names, str) else names
