"""Functions that write the new values of shared variables over the old ones.

XLA can put a result where an argument was, if the caller gives that argument up: JAX calls it
donation.  A function compiled with ``jax_mode(donate=True)`` donates the value of each shared
variable that it updates, so a training step needs its state's memory once, not twice.

Who asks for it agrees to this: a value that such a function made is its own.  An array that
``get_value(borrow=True)`` returned is gone after the next call (JAX says "Array has been deleted"
to who reads it); ``get_value()`` returns one to keep.  Everything else stays: of a value that no
such function made (the first one, one put in later, one of a function without donation), a copy is
donated, and JAX keeps what NumPy sees, such as the view that `numpy.asarray` made on a CPU.
"""

from itertools import starmap
from operator import itemgetter
from weakref import WeakSet

import jax
import jax.numpy as jnp

from pytensor.link.jax.generators import Generators, with_generators
from pytensor.link.jax.host_arrays import own, with_all_bits, with_wide_numbers
from pytensor.link.utils import raise_with_op
from pytensor.tensor.type import TensorType

__all__ = ["DonatingThunk", "donated_inputs"]

# All thunks that live, for two functions may update the same variable.
_thunks = WeakSet()


def donated_inputs(fgraph, unread=()):
    """Return positions of the inputs that can be donated, and of their new values in the outputs.

    These are updated inputs with numeric arrays, but for sizes, which programs don't read.
    """
    return {
        place: output
        for output, place in sorted((fgraph.update_mapping or {}).items())
        if isinstance(fgraph.inputs[place].type, TensorType) and place not in unread
    }


class DonatingThunk:
    """What a compiled function calls: JAX's function, on donated values of shared variables.

    It writes the updates into the shared variables itself, so that no moment is left in which an
    interrupt (Ctrl-C) would find deleted arrays in them.

    Parameters
    ----------
    fgraph : FunctionGraph
        With updates.
    function : callable
        Of `fgraph`'s inputs, as JAX arrays, that returns its outputs; not compiled.
    inputs, outputs : list of list
        Storages of `fgraph`'s inputs and outputs.
    node : Apply
        Which node an error names.
    sizes : pytensor.link.jax.mode.programs_by_size.HostSizes, optional
        On which the program depends.
    store : callable, optional
        Makes a `pytensor.link.jax.mode.store.program_store.StoredFunction`, or None, of a jitted
        function and the numbers of donated inputs.
    compiler_options : dict, optional
        Of `jax.jit`.
    wide_numbers : bool
        Whether it is traced and called with JAX's types of 64 bits.
    """

    need_update_inputs = False
    lazy = False

    def __init__(
        self, fgraph, function, inputs, outputs, node, sizes=None, store=None,
        compiler_options=None, wide_numbers=False,
    ):  # fmt: skip
        self.wide_numbers = wide_numbers
        self.inputs, self.outputs = inputs, outputs
        self.function, self.sizes, self._store = function, sizes, store
        self._fgraph, self._node = fgraph, node
        self._generators = Generators(fgraph)
        self.compiler_options = compiler_options
        mapping = fgraph.update_mapping
        # PyTensor puts the updates last.
        self._returned = len(fgraph.outputs) - len(mapping)
        numbers = range(self._returned, len(fgraph.outputs))
        self._updated = [inputs[mapping[number]] for number in numbers]
        self._donated = donated = donated_inputs(fgraph, sizes.unread if sizes else ())
        self._places = {id(self.inputs[place]): k for k, place in enumerate(donated)}
        self._state = [self.inputs[place] for place in donated]
        others = [place for place in range(len(self.inputs)) if place not in donated]
        self._others = [self.inputs[place] for place in others]
        self._in_order = sorter([*others, *donated])
        self._pick_new = tuple_getter([output - self._returned for output in donated.values()])
        self._made = (None,) * len(donated)  # what the last call put into the variables
        self._call = self.jit_fn = self._stored = self._program = None
        if sizes is None:
            self.jit_fn, self._stored = self._compiled(function)
        else:
            from pytensor.link.jax.mode.programs_by_size import ProgramsBySize

            self._programs = ProgramsBySize(sizes, self._compiled_for)
        _thunks.add(self)

    def _compiled(self, function, sizes=None):
        """Return a function compiled by JAX, and what has its programs on disk, or None."""
        jitted = jax.jit(
            function,
            donate_argnums=tuple(self._donated),
            compiler_options=self.compiler_options,
        )
        jitted = with_generators(jitted, self._fgraph)
        return jitted, self._store and self._store(jitted, *self._donated, sizes=sizes)

    def _compiled_for(self, sizes, key):
        """Return what `_compiled` does for these sizes, and what is called: nothing so far."""
        from pytensor.link.jax.mode.programs_by_size import with_sizes

        return [*self._compiled(with_sizes(self.function, sizes), key), None]

    def _use_program_for(self, args):
        """Take the program for the sizes that arguments decide, and return those it reads."""
        program = self._programs.find(args)
        if program is not self._program:
            if self._program is not None:
                self._program[-1] = self._call
            self._program = program
            self.jit_fn, self._stored, self._call = program
        return self.sizes.without_unread(args)

    def __call__(self):
        if not self.wide_numbers:
            return self._run()
        with with_wide_numbers(True):
            returned = self._run()
        return list(map(with_all_bits, returned))

    def _run(self):
        results, args = [], None
        try:
            args = self._arguments()
            if self.sizes is not None:
                args = self._use_program_for(args)
            if self._call is None and self._stored is not None:
                self._call = self._stored.resolve(args)
            # One call that Python can't interrupt between JAX's return and the list's growth: the
            # old values are deleted now, so the new ones must not get lost.
            results.extend(starmap(self._call or self.jit_fn, (args,)))
            returned = self.take(results[0])
        except BaseException as error:
            if not results and self._is_for_other_arguments(args, error):
                self._call = self.jit_fn
                return self._run()
            self._restore_variables(error, results)
            if isinstance(error, Exception) and self._node is not None:
                raise_with_op(self._fgraph, self._node, self)
            raise
        self._made = self._pick_new(results[0][self._returned :])
        return returned

    def take(self, outputs):
        """Put the new values of variables into them, and return the other results."""
        outputs = self._generators.from_jax(outputs)
        updates = outputs[self._returned :]
        for storage, value in zip(self._updated, updates, strict=True):
            storage[0] = value
        return list(outputs[: self._returned])

    def _is_for_other_arguments(self, args, error):
        """Return whether an error says that a stored program takes arguments of other kinds."""
        return (
            isinstance(error, (TypeError, ValueError))
            and args is not None
            and self._call not in (None, self.jit_fn)
            and not self._stored.fits(args)
        )

    def _arguments(self):
        """Return the arguments of JAX's function: those that it donates are its own."""
        values = self._made if storages_hold(self._state, self._made) else self._own_values()
        others = tuple(own(storage[0]) for storage in self._others)
        return self._generators.to_jax(self._in_order(others + values))

    def _own_values(self):
        """Return the values of the variables: copies of arrays that no function like this one made.

        Host arrays are put where the variable's last value was.
        """
        makers = [t for t in _thunks if not self._places.keys().isdisjoint(t._places)]
        values = [storage[0] for storage in self._state]
        foreign = []
        for k, (storage, made) in enumerate(zip(self._state, self._made, strict=True)):
            if not isinstance(values[k], jax.Array):
                values[k] = like_last(values[k], made)
            elif not any(maker.has_made(storage, values[k]) for maker in makers):
                foreign.append(k)
        if foreign:
            copies = copy_all([values[k] for k in foreign])
            for k, copy in zip(foreign, copies, strict=True):
                values[k] = copy
        return tuple(values)

    def has_made(self, storage, value):
        """Return whether a value is what the last call put into a storage."""
        k = self._places.get(id(storage))
        return k is not None and self._made[k] is value

    def _restore_variables(self, error, results):
        """Bring the variables into order after an error or an interrupt."""
        for outputs in results:
            self.take(outputs)
            return
        lost = [
            str(self._fgraph.inputs[place])
            for place in self._donated
            if isinstance(self.inputs[place][0], jax.Array) and self.inputs[place][0].is_deleted()
        ]
        if lost:
            error.add_note(
                f"The call failed after {len(lost)} shared variables had been donated to it: "
                f"{', '.join(lost[:5])}{', ...' if len(lost) > 5 else ''}. Their values are lost; "
                "set_value them before they are used again."
            )


def like_last(value, last):
    """Put a host's array where the variable's last value was, if JAX was told where that is.

    JAX would else compile a program for the other place, and another when the result comes back.
    """
    value = own(value)
    if not (isinstance(last, jax.Array) and last.committed):
        return value
    sharding = last.sharding
    if not (sharding.is_fully_replicated and sharding.is_fully_addressable):
        return value
    return jax.device_put(value, sharding)


@jax.jit
def copy_all(arrays):
    """Copy arrays in one program; `jax.device_put` may return the same memory."""
    return [jnp.copy(array) for array in arrays]


def tuple_getter(places):
    """Return what picks these items of a tuple; a slice is faster where they are in a row."""
    places = list(places)
    if not places:
        return itemgetter(slice(0))
    if places == list(range(places[0], places[-1] + 1)):
        return itemgetter(slice(places[0], places[-1] + 1))
    return itemgetter(*places)


def sorter(places):
    """Return what puts a tuple in order whose items belong at these places."""
    return tuple_getter(sorted(range(len(places)), key=places.__getitem__))


def storages_hold(storages, values):
    """Return whether the storages hold these very values."""
    # A generator, for `all`, takes twice the time.
    for storage, value in zip(storages, values, strict=True):  # noqa: SIM110
        if storage[0] is not value:
            return False
    return True
