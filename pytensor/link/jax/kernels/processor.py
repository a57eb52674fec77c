"""What is known of the processor: code that was compiled for one can't run on another."""

import platform
from functools import cache
from pathlib import Path

__all__ = ["processor"]


@cache
def processor() -> list[str]:
    """Return facts about the processor, equal on processors that run the same code."""
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.exists():
        return list(platform.uname())
    first = cpuinfo.read_text().split("\n\n")[0].splitlines()
    names = "model name", "flags", "Features", "CPU part"  # the last two are ARM's
    return [platform.machine(), *(line for line in first if line.split(":")[0].strip() in names)]
