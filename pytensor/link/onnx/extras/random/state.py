"""Random numbers that the states of generators decide, in mode ONNX.

The states are an input of the model, 64 bits for each generator.  They, the number of the draw in
the model and the steps of the loops that it is in are hashed to where the draw's counter starts.
"""

from pytensor.link.onnx.extras.random.draws import Draws, draw_by_input
from pytensor.link.onnx.extras.random.hash import mix, scopes, step_of
from pytensor.tensor.type import lvector

# Odd, and not SplitMix64's increment, by which the elements of one draw differ.
STRIDE = 0xD1342543DE82EF95


def draw_by_state(builder, generators):
    """Let draws depend on an input, int64, of the states of generators; see `draw_by_input`."""
    for number, variable in enumerate(generators):
        builder.bind_generator(variable, f"{number}:")
    return draw_by_input(builder, lvector("states"), StateDraws, Starts)


class StateDraws(Draws):
    """Draws that are the same in each run with the same states."""

    hashed = True

    def __init__(self, starts, *args):
        super().__init__(*args)
        self._starts = starts

    def _start(self):
        self._count += 1
        return self._starts.of(self.key, self._count)


class Starts:
    """The counters at which a model's draws start, in its graph and in the bodies of its loops."""

    def __init__(self, builder, states):
        self.builder, self._numbers, self._within = builder, {}, {}
        # Now, for the values of a node's conversion are renamed after it.
        self._states = mix(states.cast("uint64"))

    def of(self, key, count):
        """Return the start for the draws of a number from the state of a key."""
        number = self._numbers.setdefault((key, count), len(self._numbers) + 1)
        generator, of_input, _ = key.partition(":")
        # What a model itself seeds goes with the first one.
        start = self._in(int(generator) if of_input else 0, *scopes(self.builder))
        return mix(start + number * STRIDE % 2**64)

    def _in(self, generator, *graphs):
        builder, (*outer, graph) = self.builder, graphs
        if not outer:
            return self._states.gather(generator)
        if (generator, graph) not in self._within:
            inner, builder.graph = builder.graph, graph
            start = self._in(generator, *outer)
            step = step_of(builder, graph).cast("uint64")
            self._within[generator, graph] = mix(start + (step + 1) * STRIDE)
            builder.graph = inner
        return self._within[generator, graph]
