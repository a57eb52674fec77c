"""Compile large graphs in less time: do less in Python besides building them."""

import gc
from contextlib import contextmanager

from pytensor.configdefaults import config

__all__ = ["paused_collection", "quick_building"]

# New objects that the collector looks at in some milliseconds.
FEW = 50_000


@contextmanager
def paused_collection():
    """Pause Python's search for cyclic garbage; what was made meanwhile is old afterwards.

    Building and tracing make hundreds of thousands of objects that stay.  The collector would look
    at all of them again and again, and at the end again, as at young ones.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            # What somebody froze would thaw; counting it takes tenths of a second.
            if gc.get_count()[0] > FEW and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()  # to the oldest generation
            gc.enable()


@contextmanager
def quick_building():
    """Build and compile graphs in less time: without garbage collection, and without stack traces.

    PyTensor notes for every variable which lines of the program made it, and shows them when a
    compiled function fails.  Variables made within this context have no such note.
    """
    # thoughts/upstream/useless-switch-stack-traces.md
    with paused_collection(), config.change_flags(traceback__limit=0):
        yield
