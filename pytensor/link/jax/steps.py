"""Several calls of a compiled function as one program.

::

    step = pytensor.function(
        [x, y], loss, updates=updates, mode=jax_mode(donate=True), trust_input=True
    )
    ten_steps = ManySteps(step, 10)
    losses = ten_steps(xs, ys)    # of shape (10, *shape of x), (10, *shape of y)

Between the steps Python and JAX's dispatch have nothing to do: it pays where a step is so short
that they would take a good part of the time.
"""

import jax
import numpy as np

from pytensor.link.jax.donation import DonatingThunk

__all__ = ["ManySteps"]


class ManySteps:
    """Run a function a number of times in one call, on inputs that are stacked.

    The updated shared variables pass from step to step, and are written to at the end; other shared
    variables are read.  Results are those of so many calls of the function, which can still be
    called.

    Parameters
    ----------
    function : pytensor.compile.executor.Function
        With updates, and compiled in ``jax_mode(donate=True)``.
    steps : int

    Raises
    ------
    TypeError
        If the function was compiled in another mode, or has no updates.
    ValueError
        If there is less than one step, or an input is part of the program (the length in a reshape,
        say), for then it can't differ from step to step.
    """

    def __init__(self, function, steps):
        if not isinstance(function.vm, DonatingThunk):
            raise TypeError(
                f"ManySteps: {function.name or 'the function'} must have updates and be compiled "
                "with mode=jax_mode(donate=True)"
            )
        if steps < 1:
            raise ValueError(f"ManySteps: {steps} steps; there must be 1 at least")
        fgraph, thunk = function.maker.fgraph, function.vm
        if thunk.static_argnums:
            names = ", ".join(str(fgraph.inputs[place]) for place in thunk.static_argnums)
            raise ValueError(
                f"ManySteps: {names} is part of the program, as a length; make it a constant"
            )
        self.steps, self._one = steps, thunk.function
        self._unpack = function.unpack_single
        self._given = [place for place, c in enumerate(function.input_storage) if c.required]
        self._updated = [fgraph.update_mapping[out] for out in sorted(fgraph.update_mapping)]
        self._returned = len(fgraph.outputs) - len(self._updated)
        self._names = [str(fgraph.inputs[place]) for place in self._given]
        inputs = list(thunk.inputs)
        for place in self._given:
            inputs[place] = [None]
        self._storages = [inputs[place] for place in self._given]
        node = next((out.owner for out in fgraph.outputs if out.owner is not None), None)
        self._thunk = DonatingThunk(
            fgraph, self._all, inputs, thunk.outputs, node, compiler_options=thunk.compiler_options
        )

    def _all(self, *args):
        """All steps, on the arguments of one of which the given ones are stacked."""

        def one(state, given):
            arguments = list(args)
            for places, values in ((self._updated, state), (self._given, given)):
                for place, value in zip(places, values, strict=True):
                    arguments[place] = value
            outputs = self._one(*arguments)
            return list(outputs[self._returned :]), list(outputs[: self._returned])

        state, given = ([args[k] for k in places] for places in (self._updated, self._given))
        state, returned = jax.lax.scan(one, state, given, length=self.steps)
        return [*returned, *state]

    def __call__(self, *stacked):
        """Run all steps.

        Parameters
        ----------
        *stacked : arrays
            The function's inputs, each with a first axis of length `steps`.

        Returns
        -------
        What the function returns, each array with a first axis of length `steps`.

        Raises
        ------
        TypeError
            If there are more or fewer inputs than the function has.
        ValueError
            If an input's first axis has another length.
        """
        if len(stacked) != len(self._given):
            raise TypeError(
                f"ManySteps: {len(stacked)} inputs; the function takes {', '.join(self._names)}"
            )
        for name, value in zip(self._names, stacked, strict=True):
            if np.shape(value)[:1] != (self.steps,):
                raise ValueError(
                    f"ManySteps: {name} has shape {np.shape(value)}; its first axis must have "
                    f"length {self.steps}, one row a step"
                )
        try:
            for storage, value in zip(self._storages, stacked, strict=True):
                storage[0] = value
            outputs = self._thunk()
        finally:
            for storage in self._storages:
                storage[0] = None
        return outputs[0] if self._unpack else outputs
