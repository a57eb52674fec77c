"""Seeds of a model's draws.

A random generator is no value in ONNX.  What stands for its state is a key, a string: the digest
of a known state, else a name.  The key of the state after a draw is made from the key before it
and from what is drawn, so equal draws from one state are equal, as in PyTensor, and the next ones
differ.  In mode ONNX it begins with the number of the generator, and a colon.
"""

from hashlib import sha256

import numpy as np

from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.errors import ConversionError
from pytensor.tensor.random.op import AbstractRNGConstructor


def digest(*parts):
    """Return the hexadecimal digest of strings."""
    return sha256("\0".join(parts).encode()).hexdigest()


def state_key(generator):
    """Return the key of a NumPy generator, or of the dict that its state is."""
    state = generator if isinstance(generator, dict) else generator.bit_generator.state
    return digest(canonical(state))


def canonical(state):
    if isinstance(state, dict):
        return "{" + ",".join(f"{k}:{canonical(v)}" for k, v in sorted(state.items())) + "}"
    return str(state.tolist() if isinstance(state, np.ndarray) else state)


def seed_of(*parts):
    """Return an integer from 1 to 2**24, up to which each is a float32, ONNX's type for seeds."""
    return int(digest(*parts)[:6], 16) + 1


@onnx_funcify.register(AbstractRNGConstructor)
def onnx_funcify_AbstractRNGConstructor(op, node, builder, seed):
    if not seed:
        return builder.graph.fresh_name("generator")
    value = builder.constant_value(seed)
    if value is None:
        raise ConversionError(
            "the seed of a model's draws is part of the model; give a constant one"
        )
    return digest(op.random_constructor, canonical(value))
