"""Less time until a large graph is compiled: what Python does beside building it."""

import gc
from contextlib import contextmanager

from pytensor.configdefaults import config

__all__ = ["paused_collection", "quick_building"]


@contextmanager
def paused_collection():
    """Pause Python's search for cyclic garbage.

    Building and tracing make hundreds of thousands of objects that stay.  The collector looks at
    all of them again and again, and finds nothing.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
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
