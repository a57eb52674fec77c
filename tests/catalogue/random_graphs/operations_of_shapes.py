"""Steps of random graphs that index, reshape, loop or take images."""

import numpy as np

import pytensor
import pytensor.tensor as pt
from tests.catalogue.random_graphs.operations import (
    an_axis,
    at_least,
    of_shapes,
    one_of,
    operation,
    same,
)

# Indexing
SLICES = {
    "[1:]": lambda x: x[1:],
    "[:-1]": lambda x: x[:-1],
    "[::-1]": lambda x: x[::-1],
    "[::2]": lambda x: x[::2],
    "[..., ::-1]": lambda x: x[..., ::-1],
    "[..., 1:]": lambda x: x[..., 1:],
    "[..., :-2]": lambda x: x[..., :-2],
    "[..., 3::3]": lambda x: x[..., 3::3],
    "[2]": lambda x: x[2],
    "[-1]": lambda x: x[-1],
    "[..., 0]": lambda x: x[..., 0],
    "[[0, 2, 2, 1]]": lambda x: x[np.array([0, 2, 2, 1])],
    "[..., [3, 1, 4, 1, 5]]": lambda x: x[..., np.array([3, 1, 4, 1, 5])],
    "[[0, 1, 1], [2, 0, 3]]": lambda x: x[np.array([0, 1, 1]), np.array([2, 0, 3])],
}
OF_MATRICES = ("[[0, 1, 1], [2, 0, 3]]",)


@operation(
    of_shapes(lambda x: len(x) >= 1 and min(x) > 5),
    lambda source, x: (source.choice([k for k in SLICES if x.ndim > 1 or k not in OF_MATRICES]),),
    moves=True,
    weight=4,
)
def indexed(x, name):
    return SLICES[name](x)


@operation(
    of_shapes(lambda x, y: len(x) >= 2 and min(x) > 3 and y == x[1:]),
    one_of(("set",), ("inc",)),
    arity=2,
    weight=3,
)
def row_changed(x, y, how):
    return x[2].set(y) if how == "set" else x[2].inc(y)


@operation(
    of_shapes(lambda x, y: len(x) >= 2 and min(x) > 3 and y == x[1:]),
    one_of(("set",), ("inc",)),
    arity=2,
)
def rows_changed(x, y, how):
    if how == "set":
        return x[np.array([0, 3])].set(y)
    return x[np.array([0, 3, 0])].inc(y)


@operation(of_shapes(lambda x: len(x) >= 1 and min(x) > 3), one_of((0.0,), (1.5,)))
def part_filled(x, value):
    return x[..., 1:-1].set(value)


@operation(
    of_shapes(lambda x: len(x) >= 2 and x[-1] == x[-2]),
    one_of(("tril",), ("triu",), ("diagonal",)),
)
def triangle(x, name):
    if name == "diagonal":
        return pt.diagonal(x, axis1=-2, axis2=-1)
    return getattr(pt, name)(x, 1)


# Shapes
@operation(lambda x, y: x.ndim > 0 and same(x, y), an_axis, 2, moves=True, weight=2)
def join(x, y, axis):
    return pt.concatenate([x, y], axis=axis)


@operation(lambda x, y: same(x, y) and x.ndim < 4, arity=2, moves=True, weight=1)
def stack(x, y):
    return pt.stack([x, y], axis=0)


@operation(
    at_least(2),
    lambda source, x: (source.permutation(x.ndim),),
    moves=True,
    weight=3,
)
def transpose(x, order):
    return pt.transpose(x, order)


@operation(at_least(2), one_of(("first",), ("last",), ("all",)), moves=True, weight=2)
def merged(x, which):
    shape = list(x.shape)
    if which == "first":
        return x.reshape((-1, *shape[2:]), ndim=x.ndim - 1)
    if which == "last":
        return x.reshape((*shape[:-2], -1), ndim=x.ndim - 1)
    return x.flatten()


@operation(of_shapes(lambda x: 1 <= len(x) < 4 and x[-1] % 4 == 0), moves=True)
def parted(x):
    return x.reshape((*list(x.shape)[:-1], 4, -1), ndim=x.ndim + 1)


@operation(at_least(1), one_of((0,), (-1,), (1,)), moves=True, weight=2)
def expanded(x, axis):
    return pt.expand_dims(x, axis)


@operation(at_least(1), an_axis, moves=True)
def rolled(x, axis):
    return pt.roll(x, 2, axis=axis)


@operation(at_least(1), an_axis, moves=True)
def repeated(x, axis):
    return pt.repeat(x, 2, axis=axis)


@operation(
    of_shapes(lambda x: 1 <= len(x) <= 3 and x[-1] > 2),
    one_of(("constant",), ("edge",), ("reflect",)),
    weight=0.5,
)
def padded(x, mode):
    return pt.pad(x, [(0, 0)] * (x.ndim - 1) + [(1, 2)], mode=mode)


# Loops
@operation(at_least(2), shape=lambda x: x)
def recurrence(x):
    return pytensor.scan(
        lambda row, before: pt.tanh(before * 0.5 + row),
        sequences=[x],
        outputs_info=[pt.zeros_like(x[0])],
        return_updates=False,
    )


@operation(
    # A state has one type in all steps.
    lambda x, w: (
        (x.ndim, w.ndim) == (3, 2)
        and x.shape[2] == w.shape[0] == w.shape[1]
        and x.known[2] == w.known[0] == w.known[1]
    ),
    arity=2,
    weight=4,
    shape=lambda x, w: x,
)
def recurrent_network(x, w):
    return pytensor.scan(
        lambda rows, before, w: pt.tanh(before @ w / 4 + rows),
        sequences=[x],
        outputs_info=[pt.zeros_like(x[0])],
        non_sequences=[w],
        return_updates=False,
    )


@operation(lambda x, y: x.ndim >= 2 and same(x, y), arity=2, weight=2, shape=lambda x, y: x[:-1])
def mapped(x, y):
    return pytensor.scan(
        lambda a, b: (a * b).sum(axis=-1) + a.mean(), sequences=[x, y], return_updates=False
    )


# Images
@of_shapes
def is_image(*shapes):
    x, *filters = shapes
    if len(x) != 4 or min(x[2:]) < 8:
        return False
    return all(len(w) == 4 and w[1] == x[1] and max(w[2:]) <= 5 for w in filters)


@operation(
    is_image,
    one_of(
        ("valid", (1, 1), (1, 1)),
        ("half", (1, 1), (1, 1)),
        ("half", (2, 2), (1, 1)),
        ("full", (1, 1), (1, 1)),
        (((1, 0), (0, 2)), (2, 1), (1, 2)),
    ),
    arity=2,
    first=is_image,
    weight=20,
)
def conv2d(x, w, border_mode, stride, dilation):
    return pt.conv2d(x, w, border_mode, stride, dilation)


@operation(
    of_shapes(
        lambda x, w: len(x) == len(w) == 4 and min(x[2:]) >= 8 and w[0] == x[1] and max(w[2:]) <= 5
    ),
    one_of((0, 1), (1, 2)),
    arity=2,
    first=is_image,
    weight=10,
)
def conv2d_transpose(x, w, border_mode, stride):
    # here, for the steps of PyTensor's own Ops are drawn where our modules are missing, too
    from pytensor.tensor.conv import conv_transpose

    return conv_transpose(x, w, border_mode, stride)


@operation(
    of_shapes(lambda x, w: len(x) == len(w) == 3 and w[1] == x[1] and x[2] >= 8 and w[2] <= 5),
    one_of(("valid", 1), ("half", 2)),
    arity=2,
    first=of_shapes(lambda x: len(x) == 3 and x[2] >= 8),
    weight=10,
)
def conv1d(x, w, border_mode, stride):
    from pytensor.tensor.conv import conv

    return conv(x, w, border_mode, stride)


@operation(is_image, one_of(("half",), ("valid",)), exact=True, weight=4)
def max_pool2d(x, border_mode):
    return pt.nn.max_pool2d(x, 3, 2, 1 if border_mode == "half" else 0)


@operation(is_image, one_of((2, 2, 0), (3, 1, 1)), weight=4)
def avg_pool2d(x, window, stride, padding):
    return pt.nn.avg_pool2d(x, window, stride, padding)


@operation(is_image, weight=2)
def lp_pool2d(x):
    return pt.pool.lp_pool(x * x + 0.1, 2, (2, 2))


@operation(is_image, one_of(("nearest",), ("linear",)), weight=2)
def resize(x, mode):
    return pt.resize(x, scale=2, mode=mode)


@operation(is_image, weight=4)
def batch_normalization(x):
    scale = pt.ones((x.shape[1],), dtype=x.dtype)
    return pt.batch_normalization_train(x, scale * 2, scale, "spatial")[0]


@operation(at_least(2), weight=0.5)
def layer_normalization(x):
    return pt.nn.layer_norm(x, x.type.shape[-1:])


# The catalogue
def catalogued_names():
    """Return the names of the catalogue's operators that make a float of numbers of any kind."""
    # here, for the steps of PyTensor's own Ops are drawn where our modules are missing, too
    from tests.catalogue.operators import OPERATORS

    return [name for name, example in OPERATORS.items() if example.shapes[0][0] > 0]


def an_operator(source, x):
    return (source.choice(catalogued_names()),)


@operation(at_least(1), an_operator, exact=True, weight=10)
def catalogued(x, name):
    """Take numbers, one after the other, for an operator's first input, and constants for others.

    A small slope makes them differ, for a maximum of equal numbers has no gradient.
    """
    from tests.catalogue.operators import OPERATORS

    example, dtype = OPERATORS[name], x.type.dtype
    shape, size = example.shapes[0], int(np.prod(example.shapes[0]))
    slope = (np.arange(size) * 2.0**-11).astype(dtype)
    numbers = x.flatten()
    first = (numbers[np.arange(size) % numbers.shape[0]] + slope).reshape(shape)
    others = [pt.constant(value) for value in example.values(dtype)[1:]]
    return example.outputs(first, *others, dtype=dtype)[0].flatten()[:24]
