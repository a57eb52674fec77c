"""The C library's allocator, set for programs whose temporary arrays are large.

XLA takes the memory for a program's temporary values when a call begins and gives it back when
the call ends.  On a CPU that is glibc's ``malloc``, which fetches blocks of that size from the
kernel, and returns them to it, every time: the kernel clears every page again.  For a training step
with half a gigabyte of temporary values this takes a quarter of the processor's time.
"""

import ctypes
import mmap
import os
import sys

import jax

from pytensor.link.jax.internals import backend_has_started

__all__ = ["keep_freed_memory"]

# From glibc's <malloc.h>.
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
NEVER = -1
HUGE_PAGE = 1 << 21


def keep_freed_memory() -> bool:
    """Let the process keep the memory that it frees, in huge pages, for its next allocations.

    To be called before JAX's first computation.  From then on JAX computes on a CPU in the thread
    that calls, and returns when the results are there: only the main thread's heap has no limit.
    A function that another thread calls gets blocks of more than 64 MB from the kernel again.

    It holds for the whole process, NumPy's arrays included, and can't be undone.  The process's
    resident memory stays at its peak from then on.  Addresses for a quarter of the machine's memory
    are reserved, which Linux gives in pages of 2 MB where it can.  Memory on a GPU isn't concerned.

    Returns
    -------
    bool
        Whether that is so: the C library is glibc and agreed, and JAX hadn't started.  With another
        C library, or too late, nothing is changed.
    """
    if not sys.platform.startswith("linux"):
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version") or backend_has_started():
        return False
    # No block comes from mmap, whatever its size: freed blocks return to the heap; and the heap
    # isn't cut short.
    settings = [(M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, NEVER)]
    if not all(library.mallopt(option, value) == 1 for option, value in settings):
        return False
    # Or JAX's own threads would ask for large blocks, and their heaps are limited.
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    library.malloc.restype = ctypes.c_void_p
    size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4
    if block := library.malloc(ctypes.c_size_t(size)):
        # The heap reaches so far from now on; memory is taken when it is used.
        start = ctypes.c_void_p(-(-block // HUGE_PAGE) * HUGE_PAGE)
        library.madvise(start, ctypes.c_size_t(size - HUGE_PAGE), mmap.MADV_HUGEPAGE)
        library.free(ctypes.c_void_p(block))
    return True
