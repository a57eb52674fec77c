"""Facts that a figure depends on: the machine and the versions."""

import os
import platform
import sys
from importlib import metadata
from pathlib import Path

PACKAGES = ("jax", "pytensor", "torch", "numba", "onnxruntime", "pymc")
VERSIONED = ("python", *PACKAGES)


def machine(device=None):
    """Return what a figure depends on: processor, cores, device, versions, other load.

    Parameters
    ----------
    device : dict, optional
        What `benchmarks.common.child.device_facts` returned, of a process that has ended; without
        it, the device of this process's JAX counts, if it has loaded JAX.
    """
    loaded = {name for name in PACKAGES if name in sys.modules}
    if device is not None:
        loaded |= {"jax", "pytensor"}
    elif "jax" in loaded:
        first = sys.modules["jax"].devices()[0]
        device = {"name": str(first), "kind": first.device_kind}
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        **({"device": device["name"], "device_kind": device["kind"]} if device else {}),
        "load_average": os.getloadavg()[0],
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in PACKAGES if name in loaded},
    }


def processor():
    """Return the processor's name, with family and model, as clouds hide which one it is."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        pairs = (line.partition(":") for line in information.read_text().splitlines())
        facts = {key.strip(): value.strip() for key, _, value in pairs}
        if "model name" in facts:
            numbers = [f"{key} {facts[key]}" for key in ("cpu family", "model") if key in facts]
            return ", ".join([facts["model name"], *numbers])
    return platform.processor() or platform.machine()


def machine_line(facts):
    return ", ".join(f"{key} {value}" for key, value in facts.items())
