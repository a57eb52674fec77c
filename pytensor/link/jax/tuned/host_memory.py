"""The C library's allocator, set for programs whose temporary arrays are large.

XLA takes the memory for a program's temporary values when a call begins and gives it back when
the call ends.  On a CPU that is glibc's ``malloc``, which fetches blocks of that size from the
kernel, and returns them to it, every time: the kernel clears every page anew.  For a training step
with half a gigabyte of temporary values this takes a quarter of the processor's time.
"""

import ctypes
import mmap
import os
import sys

__all__ = ["keep_freed_memory"]

# From glibc's <malloc.h>.
M_TRIM_THRESHOLD, M_MMAP_MAX, M_ARENA_MAX = -1, -4, -8
NEVER = -1
HUGE_PAGE = 1 << 21


def keep_freed_memory() -> bool:
    """Let the process keep the memory that it frees, in huge pages, for its next allocations.

    To be called before the process starts threads, JAX's for its first computation among them: a
    thread that has a heap of its own keeps it, and so may each that is started later.

    It holds for the whole process, NumPy's arrays included, and can't be undone.  The process's
    resident memory stays at its peak from then on.  Addresses for a quarter of the machine's memory
    are reserved, which Linux gives in pages of 2 MB where it can.  Memory on a GPU isn't concerned.

    Returns
    -------
    bool
        Whether that is so: the C library is glibc and agreed, and no thread has a heap of its own.
        With another C library nothing is changed.
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
    kept = all(agreed) and _heaps(library) == 1
    library.malloc.restype = ctypes.c_void_p
    size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4
    if kept and (block := library.malloc(ctypes.c_size_t(size))):
        # The heap reaches so far from now on; memory is taken when it is used.
        start = ctypes.c_void_p(-(-block // HUGE_PAGE) * HUGE_PAGE)
        library.madvise(start, ctypes.c_size_t(size - HUGE_PAGE), mmap.MADV_HUGEPAGE)
        library.free(ctypes.c_void_p(block))
    return kept


def _heaps(library: ctypes.CDLL) -> int:
    """How many heaps glibc's allocator has in this process, each for some of its threads."""
    library.open_memstream.restype = ctypes.c_void_p
    text, size = ctypes.c_void_p(), ctypes.c_size_t()
    stream = ctypes.c_void_p(library.open_memstream(ctypes.byref(text), ctypes.byref(size)))
    library.malloc_info(0, stream)
    library.fclose(stream)
    heaps = ctypes.string_at(text).count(b"<heap nr=")
    library.free(text)
    return heaps
