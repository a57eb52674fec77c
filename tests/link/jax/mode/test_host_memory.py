"""host_memory: pages that the kernel clears for a call with large temporary values."""

import os
import sys
from pathlib import Path

import jax
import pytest

from pytensor.link.jax.mode.host_memory import keep_freed_memory
from tests.link.jax.process import in_a_process

# Prints what `keep_freed_memory` returned, and the page faults a call.
PROGRAM = """
import resource, sys
import jax, jax.numpy as jnp
from pytensor.link.jax.mode.host_memory import keep_freed_memory

told = keep_freed_memory() if sys.argv[1] == "keep" else None

@jax.jit
def f(x):
    # Temporary values of several sizes, up to 64 MB, as a training step has them.
    y = jnp.tanh(x @ x.T)
    z = jnp.tanh(y @ y[:, :64])
    return jax.lax.optimization_barrier(z).sum(0) + y.sum()

x = jnp.ones((4096, 64))
for _ in range(30):
    f(x).block_until_ready()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    f(x).block_until_ready()
print(told, (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 20)
"""


def printed(*program):
    """Return the number that a program prints; skip the test where it keeps no memory."""
    done = in_a_process(*program, JAX_PLATFORMS="cpu", PYTENSOR_FLAGS="")
    told, number = done.stdout.split()
    if told == "False":
        pytest.skip("the C library is not glibc")
    return float(number)


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's allocator")
def test_no_page_is_cleared_twice():
    kept, usual = printed(PROGRAM, "keep"), printed(PROGRAM, "usual")
    pages = 4096 * 4096 * 4 / os.sysconf("SC_PAGE_SIZE")
    assert usual > 0.5 * pages
    # Threads that meet otherwise than before may still need another block, once or twice.
    assert kept < 2.5 * pages / 20


HUGE = """
import sys
from pathlib import Path
from pytensor.link.jax.mode.host_memory import keep_freed_memory

told = keep_freed_memory()
kept = b"1" * (1 << 26)  # NumPy would ask for huge pages itself
rows = Path("/proc/self/smaps_rollup").read_text().splitlines()
print(told, *(row.split()[1] for row in rows if row.startswith("AnonHugePages")))
"""


@pytest.mark.slow
def test_large_arrays_lie_in_huge_pages():
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not setting.exists() or "[never]" in setting.read_text():
        pytest.skip("the kernel gives no huge pages")
    assert printed(HUGE) > 1 << 15  # half of the array at least


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's allocator")
def test_memory_that_cant_be_reserved_is_not_needed():
    """As where a limit on addresses is set."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 32, -1)); told ="
    assert printed(HUGE.replace("told =", limit)) >= 0


def test_once_jax_has_started_nothing_is_changed():
    jax.devices()
    assert keep_freed_memory() is False
