"""Keys that stand for the states of random generators.

A random generator is no value in ONNX. A key is a string: the digest of a known state, else a
name. The key of the state after a draw is made from the key before it and from the draw, so equal
draws from one state are equal, as in PyTensor, and the next ones differ. In mode ONNX it begins
with the number of the generator, and a colon.
"""

from hashlib import sha256

import numpy as np


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
