"""Random numbers, from generators of PyTensor: their values differ from other runtimes'.

Each node has a generator of its own, whose next state is among the imported model's updates.
"""

import numpy as np
import onnx_ir as ir

import pytensor.tensor as pt
from pytensor.compile.sharedvalue import shared
from pytensor.link.onnx.importing.registry import Refused, dtype_name, operator_funcify
from pytensor.tensor.basic import cast
from pytensor.tensor.batching import lengths_of


def _draw(node, distribution, *parameters, size, seed, **options):
    """Draw numbers from a distribution; a seed of the file says which."""
    if seed is not None:
        seed = int(np.float32(seed).view(np.uint32))
    generator = shared(np.random.default_rng(seed), name=f"generator of {node.label}")
    following, drawn = distribution(
        *parameters, size=size, rng=generator, return_next_rng=True, **options
    )
    node.importer.updates[generator] = following
    return drawn


def _dtype(number, default):
    return default if number is None else dtype_name(ir.DataType(number))


def _floating(node, distribution, *parameters, dtype, **how):
    if not dtype.startswith("float"):
        raise Refused(f"random numbers of dtype {dtype}; give it a dtype of floating point")
    parameters = [np.asarray(v, dtype=dtype) for v in parameters]
    return _draw(node, distribution, *parameters, dtype=dtype, **how)


@operator_funcify.register("RandomNormal")
def random_normal(node, *, dtype=1, mean=0.0, scale=1.0, seed=None, shape):
    dtype = dtype_name(ir.DataType(dtype))
    return _floating(node, pt.random.normal, mean, scale, dtype=dtype, seed=seed, size=shape)


@operator_funcify.register("RandomNormalLike")
def random_normal_like(node, x, *, dtype=None, mean=0.0, scale=1.0, seed=None):
    dtype, size = _dtype(dtype, x.type.dtype), lengths_of(x)
    return _floating(node, pt.random.normal, mean, scale, dtype=dtype, seed=seed, size=size)


@operator_funcify.register("RandomUniform")
def random_uniform(node, *, dtype=1, high=1.0, low=0.0, seed=None, shape):
    dtype = dtype_name(ir.DataType(dtype))
    return _floating(node, pt.random.uniform, low, high, dtype=dtype, seed=seed, size=shape)


@operator_funcify.register("RandomUniformLike")
def random_uniform_like(node, x, *, dtype=None, high=1.0, low=0.0, seed=None):
    dtype, size = _dtype(dtype, x.type.dtype), lengths_of(x)
    return _floating(node, pt.random.uniform, low, high, dtype=dtype, seed=seed, size=size)


@operator_funcify.register("Bernoulli")
def bernoulli(node, probability, *, dtype=None, seed=None):
    of, size = probability.type.dtype, lengths_of(probability)
    # In double precision: rounded to that of the probability, a number may become 1
    limits = np.float64(0), np.float64(1)
    drawn = _draw(node, pt.random.uniform, *limits, size=size, seed=seed, dtype="float64")
    return cast(drawn < cast(probability, "float64"), _dtype(dtype, of))


@operator_funcify.register("Multinomial")
def multinomial(node, log_probabilities, *, dtype=6, sample_size=1, seed=None):
    # In double precision, in which their sum doesn't fall short of 1, beyond which is no class
    probabilities = pt.special.softmax(cast(log_probabilities, "float64"), axis=1)
    size = sample_size, lengths_of(log_probabilities)[0]
    drawn = _draw(node, pt.random.categorical, probabilities, size=size, seed=seed)
    return cast(drawn.T, dtype_name(ir.DataType(dtype)))
