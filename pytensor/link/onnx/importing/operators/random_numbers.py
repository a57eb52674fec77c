"""Random numbers, from generators of PyTensor: their values differ from other runtimes'.

Each node has a generator of its own, whose next state is among the imported model's updates.
"""

import numpy as np
import onnx_ir as ir

import pytensor.tensor as pt
from pytensor.compile.sharedvalue import shared
from pytensor.link.onnx.importing.registry import Refused, converts, dtype_name
from pytensor.link.onnx.importing.windows import lengths, like
from pytensor.tensor.basic import cast


def _draw(node, distribution, *parameters, size, **options):
    """Numbers from a distribution; a seed of the file says which."""
    seed = node.attribute("seed")
    if seed is not None:
        seed = int(np.float32(seed).view(np.uint32))
    generator = shared(np.random.default_rng(seed), name=f"generator of {node.label}")
    following, drawn = distribution(
        *parameters, size=size, rng=generator, return_next_rng=True, **options
    )
    node.updates[generator] = following
    return drawn


def _dtype(node, default):
    number = node.attribute("dtype", None)
    return default if number is None else dtype_name(ir.DataType(number))


def _floating(node, distribution, first, second, size, default):
    dtype = _dtype(node, default)
    if not dtype.startswith("float"):
        raise Refused(f"random numbers of dtype {dtype}; give it a dtype of floating point")
    parameters = [np.asarray(v, dtype=dtype) for v in (first, second)]
    return _draw(node, distribution, *parameters, size=size, dtype=dtype)


@converts("RandomNormal", "RandomNormalLike")
def random_normal(node, like=None):
    size = node.required("shape") if like is None else lengths(like)
    default = "float32" if like is None else like.type.dtype
    mean, scale = node.attribute("mean", 0.0), node.attribute("scale", 1.0)
    return _floating(node, pt.random.normal, mean, scale, size, default)


@converts("RandomUniform", "RandomUniformLike")
def random_uniform(node, like=None):
    size = node.required("shape") if like is None else lengths(like)
    default = "float32" if like is None else like.type.dtype
    low, high = node.attribute("low", 0.0), node.attribute("high", 1.0)
    return _floating(node, pt.random.uniform, low, high, size, default)


@converts("Bernoulli")
def bernoulli(node, probability):
    dtype = probability.type.dtype
    limits = like(probability, 0), like(probability, 1)
    drawn = _draw(node, pt.random.uniform, *limits, size=lengths(probability), dtype=dtype)
    return cast(drawn < probability, _dtype(node, dtype))


@converts("Multinomial")
def multinomial(node, log_probabilities):
    probabilities = pt.special.softmax(log_probabilities, axis=1)
    n_examples = lengths(log_probabilities)[0]
    size = (node.attribute("sample_size", 1), n_examples)
    drawn = _draw(node, pt.random.categorical, probabilities, size=size)
    return cast(drawn.T, _dtype(node, "int32"))
