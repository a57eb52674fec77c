"""Random numbers, from generators of PyTensor: their values differ from other runtimes'.

Each node has a generator of its own, whose next state is among the imported model's updates.
"""

import numpy as np
import onnx_ir as ir

import pytensor.tensor as pt
from pytensor.compile.sharedvalue import shared
from pytensor.link.onnx.importing.registry import Refused, dtype_name, operator_funcify
from pytensor.link.onnx.importing.windows import lengths, like
from pytensor.tensor.basic import cast


def _draw(node, distribution, *parameters, size, **options):
    """Draw numbers from a distribution; a seed of the file says which."""
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


def _floating(node, distribution, parameters, x):
    """Draw numbers of the shape of `x`, or of the attribute's; `parameters` are attributes too."""
    size = node.required("shape") if x is None else lengths(x)
    dtype = _dtype(node, "float32" if x is None else x.type.dtype)
    if not dtype.startswith("float"):
        raise Refused(f"random numbers of dtype {dtype}; give it a dtype of floating point")
    parameters = [np.asarray(node.attribute(*v), dtype=dtype) for v in parameters]
    return _draw(node, distribution, *parameters, size=size, dtype=dtype)


@operator_funcify.register("RandomNormal", "RandomNormalLike")
def random_normal(node, x=None):
    return _floating(node, pt.random.normal, [("mean", 0.0), ("scale", 1.0)], x)


@operator_funcify.register("RandomUniform", "RandomUniformLike")
def random_uniform(node, x=None):
    return _floating(node, pt.random.uniform, [("low", 0.0), ("high", 1.0)], x)


@operator_funcify.register("Bernoulli")
def bernoulli(node, probability):
    dtype = probability.type.dtype
    limits = like(probability, 0), like(probability, 1)
    drawn = _draw(node, pt.random.uniform, *limits, size=lengths(probability), dtype=dtype)
    return cast(drawn < probability, _dtype(node, dtype))


@operator_funcify.register("Multinomial")
def multinomial(node, log_probabilities):
    probabilities = pt.special.softmax(log_probabilities, axis=1)
    n_examples = lengths(log_probabilities)[0]
    size = (node.attribute("sample_size", 1), n_examples)
    drawn = _draw(node, pt.random.categorical, probabilities, size=size)
    return cast(drawn.T, _dtype(node, "int32"))
