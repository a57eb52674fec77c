"""Random numbers that a seed decides, in every runtime the same.

They are Philox4x32-10's (Salmon, Moraes, Dror & Shaw 2011), a function of two words of a key, the
model's seed, and of four words of a counter: the lower half of an element's number, the step of the
loop that it is drawn in, the upper half of its number, and the number of the draw in the model.
Where loops are within loops, the key of an inner one's draws is made of the outer one's step.

Philox and not Threefry, because its counter has room for all of these, a block has the bits of two
numbers of double precision, and its ten rounds are a loop of seven nodes.  Words are held in
uint64, which the product of two words fits in, and in pairs, words 0 and 2 or 1 and 3, which are
treated in the same way.
"""

from math import pi

import numpy as np

from pytensor.link.onnx.extras.random.draws import Draws, draw_by_input
from pytensor.link.onnx.extras.random.hash import scopes, step_of
from pytensor.link.onnx.write.formula import cos, log, sqrt
from pytensor.tensor.type import lscalar

SEED = "seed"
WORD = 0xFFFFFFFF
FACTORS = np.array([[0xD2511F53], [0xCD9E8D57]], "uint64")
ROUNDS = 10
# What is added to the key in each round.
KEY_STEP = np.array([[0x9E3779B9], [0xBB67AE85]], "uint64")
# In place of a draw's number where the key of inner loops is made.
NO_DRAW = WORD


def draw_by_counter(builder, names):
    """Let draws depend on an input; returns a variable for it and its name, not one of `names`."""
    if SEED in names:
        raise ValueError(
            f"random='counter' adds an input {SEED!r}, and an input or output is called so: "
            "give it another name, with input_names or output_names"
        )
    return draw_by_input(builder, lscalar(SEED), CounterDraws, Streams)


class CounterDraws(Draws):
    """Draws whose first ones, but for rounding, don't depend on how many there are."""

    def __init__(self, streams, *args):
        super().__init__(*args)
        self._streams = streams

    def _make_template(self):
        count = self.shape.reduce_prod()
        return halves(count.lift(0).node("Range", count, 1))

    def uniform(self):
        return self._floats(self._bits(), 0)

    def normal(self):
        # Box & Muller 1958.
        bits = self._bits()
        u, v = self._floats(bits, 0), self._floats(bits, 1)
        return sqrt(-2.0 * log(1.0 - u)) * cos(2 * pi * v)

    def _bits(self):
        """Return two rows of 53 bits per element: first of words 0 and 1, then of 2 and 3."""
        self._count += 1
        high, low = self._streams.words(self._template, (self.key, self._count))
        return ((high << 32) + low) >> 11

    def _floats(self, bits, row):
        return bits.gather(row).reshape(self.shape).cast("float64") * 2.0**-53


class Streams:
    """Numbers the draws of a model, and has the keys for its graph and the bodies of its loops."""

    def __init__(self, builder, seed):
        self.builder = builder
        self._numbers = {}
        self._keys = {builder.graph: keys_of_rounds(halves(seed))}

    def words(self, elements, draw):
        """Return blocks of a draw, known by any hashable: words 0 and 2, and words 1 and 3."""
        number = self._numbers.setdefault(draw, len(self._numbers))
        graph, *loops = scopes(self.builder)
        if not loops:
            return philox(elements, pair(self.builder, 0, number), self._keys[graph])
        *outer, loop = loops
        step = step_of(self.builder, loop).cast("uint64") * pair(self.builder, 1, 0)
        return philox(elements, step + pair(self.builder, 0, number), self._keys_in(graph, *outer))

    def _keys_in(self, *scopes):
        """Return keys for the loops in the last one of some scopes; others in each of its steps."""
        *outer, scope = scopes
        if scope not in self._keys:
            keys = self._keys_in(*outer)
            inner, self.builder.graph = self.builder.graph, scope
            step = halves(step_of(self.builder, scope))
            key, _ = philox(step, pair(self.builder, 0, NO_DRAW), keys)
            self._keys[scope] = keys_of_rounds(key)
            self.builder.graph = inner
        return self._keys[scope]


def philox(even, odd, keys):
    """Compute Philox4x32-10 of the pairs of words 0 and 2, and 1 and 3; the result is such pairs.

    Terms of dtype uint64 and shapes (2, N) or (2, 1), and the rounds' keys, (10, 2, 1).
    """
    builder = even.builder

    def step(k, x, y):
        swapped = (x * FACTORS).gather([1, 0])
        return (swapped >> 32) ^ y ^ keys.gather(k), swapped & WORD

    count = builder.constant(ROUNDS, "int64")
    return builder.loop(step, [even, odd], count=count, shapes=[(2, None)] * 2)


def keys_of_rounds(key):
    """Return keys (10, 2, 1) of the rounds, from that of the first one, (2, 1)."""
    steps = np.arange(ROUNDS, dtype="uint64")[:, None, None] * KEY_STEP
    return (key + steps) & WORD


def halves(number):
    """Lower and upper words (2, N) of int64 numbers (N,), or (2, 1) of a scalar."""
    return (number.cast("uint64") >> pair(number.builder, 0, 32)) & WORD


def pair(builder, *words):
    return builder.constant(np.reshape(words, (2, 1)), "uint64")
