"""The C library's allocator, set for programs whose temporary arrays are large.

XLA takes the memory for a program's temporary values when a call begins and gives it back when
the call ends.  On a CPU that is glibc's ``malloc``, which fetches blocks of that size from the
kernel, and returns them to it, every time: the kernel clears every page anew.  For a training step
with half a gigabyte of temporary values this takes a quarter of the processor's time.
"""

import ctypes
import sys

__all__ = ["keep_freed_memory"]

# From glibc's <malloc.h>.
M_TRIM_THRESHOLD, M_MMAP_MAX, M_ARENA_MAX = -1, -4, -8
NEVER = -1


def keep_freed_memory():
    """Let the process keep the memory that it frees, for its next allocations.

    To be called before JAX's first computation starts its threads.

    It holds for the whole process, NumPy's arrays included, and can't be undone.  The process's
    resident memory stays at its peak from then on.  Memory on a GPU isn't concerned.

    Returns
    -------
    bool
        Whether the C library was told: it is glibc, and it agreed.  Elsewhere nothing is changed.
    """
    if not sys.platform.startswith("linux"):
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version"):
        return False
    # No block comes from mmap, whatever its size: freed blocks return to the heap; and the heap
    # isn't cut short.
    # All threads share the one heap that has no limit: for a block above 64 MB, those of other
    # threads ask for a mapping in any case.
    settings = [(M_ARENA_MAX, 1), (M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, NEVER)]
    agreed = [library.mallopt(option, value) == 1 for option, value in settings]
    return all(agreed)
