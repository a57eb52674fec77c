"""Random generators of functions of mode ONNX, whose models have 64 bits of each state.

See `pytensor.link.generators`: a call leaves the next key, which draws advance by a constant.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pytensor.compile.ops import DeepCopyOp
from pytensor.conditional.op import IfElse
from pytensor.graph.basic import Constant
from pytensor.link.generators import KeyGenerator, key_of
from pytensor.link.onnx.errors import ConversionError
from pytensor.scan.op import Scan
from pytensor.tensor.random.type import RandomType

__all__ = ["advanced", "origin_of", "states_of"]

BITS = 2**64
# Odd, so that all keys come before one comes again.
STRIDE = 0x9E3779B97F4A7C15


def origin_of(state: Any) -> tuple[Any, int]:
    """Return the input of which a variable is a later state, and the number of nodes between.

    Raises
    ------
    ConversionError
        If the state isn't one of an input's.
    """
    count = 0
    while (node := state.owner) is not None:
        count += not isinstance(node.op, DeepCopyOp)
        if isinstance(node.op, Scan):
            outer = node.op.get_oinp_iinp_iout_oout_mappings()["outer_inp_from_outer_out"]
            state = node.inputs[outer[state.index]]
        elif isinstance(node.op, IfElse):
            state = node.inputs[1 + state.index]
        elif states := [v for v in node.inputs if isinstance(v.type, RandomType)]:
            state = states[0]
        else:
            break
    if state.owner is not None or isinstance(state, Constant):
        raise ConversionError(
            f"{state} is made within the function; mode ONNX returns later states of its "
            "generators only"
        )
    return state, count


def states_of(generators: Sequence[np.random.Generator]) -> np.ndarray:
    """Return what a model gets of the states of generators: a vector of int64."""
    return np.array([_number_of(g) for g in generators], "uint64").astype("int64")


def advanced(generator: np.random.Generator, count: int) -> np.random.Generator:
    """Return a generator whose state is `count` draws later."""
    key = (_number_of(generator) + count * STRIDE) % BITS
    return KeyGenerator(np.array([key % 2**32, key >> 32], "uint32"))


def _number_of(generator: np.random.Generator) -> int:
    low, high = np.asarray(key_of(generator)).tolist()
    return high << 32 | low
