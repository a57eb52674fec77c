"""The profile of some steps of a training run: its trace and its tables."""

import contextlib
import shutil

import jax
from training.checkpoint import write_atomically

from pytensor.link.jax.profiling import read_profile, trace

FOLDER = "profile"
WARM_UP = 3  # steps: of new programs, and of arrays that come from the host


class Profiler:
    """Traces some steps of a run, and tells where their time went.

    Parameters
    ----------
    folder : Path
        Of the run; the trace and the tables come into ``profile/`` there.
    steps : int or None
        How many; none if None.
    train_step : TrainStep
    say : callable of str
    warm_up : int
        Steps before them.
    """

    def __init__(self, folder, steps, train_step, say=print, warm_up=WARM_UP):
        self.folder, self.steps, self.train_step = folder / FOLDER, steps, train_step
        self.say, self.warm_up = say, warm_up
        self.count = 0
        self._trace = None

    def before_step(self):
        """Begin the trace if it is time for it."""
        if self.steps is not None and self._trace is None and self.count == self.warm_up:
            self.wait()
            shutil.rmtree(self.folder, ignore_errors=True)
            self._trace = contextlib.ExitStack()
            self._trace.enter_context(trace(self.folder))

    def after_step(self):
        """End the trace if it is time for it."""
        self.count += 1
        if self.count == self.warm_up + (self.steps or 0):
            self.end()

    def wait(self):
        """Wait for the steps that were started."""
        jax.block_until_ready([v.get_value(borrow=True) for v in self.train_step.variables])

    def end(self):
        """End the trace, if there is one, and write and print the tables.

        An epoch's end is one too: what comes then is no step.
        """
        if self._trace is None:
            return
        self.wait()
        self._trace.close()
        self._trace, traced_steps, self.steps = None, self.count - self.warm_up, None
        profile = read_profile(self.folder, self.train_step.programs(), traced_steps)
        write_atomically(self.folder / "profile.txt", f"{profile.table(nodes=None)}\n".encode())
        self.say(f"profile (the trace is in {self.folder}):\n{profile}")

    def close(self):
        """Give up a trace that is running."""
        if self._trace is not None:
            self._trace.close()
            self._trace = None
