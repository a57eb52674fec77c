"""A side of a training step's benchmark, in a separate process: as its users run it.

`SideProcess` starts this file and talks with it in lines of JSON: the name of a method of
`ServedSide` and its arguments go there; what it returns, or the error, comes back.
"""

import json
import os
import queue
import resource
import signal
import subprocess
import sys
import threading
import time
import traceback
from contextlib import suppress
from types import SimpleNamespace

import numpy as np

from benchmarks.common import step_sides
from benchmarks.common.child import ROOT, end_group, how_it_ended, program_command
from benchmarks.common.step_sides import DemoStep, PureStep, TorchStep, draw_sample

SAMPLES = 4
COSTS = {"flops": "GFLOP", "bytes accessed": "GB accessed"}
TORCH = {
    "torch": {},
    "torch-channels-last": {"channels_last": True},
    "torch-compile": {"channels_last": True, "compiled": "default"},
    "torch-compile-graphs": {"channels_last": True, "compiled": "reduce-overhead"},
    "torch-compile-tuned": {"channels_last": True, "compiled": "max-autotune"},
}
# The demo's step by its name, with what its mode is told to leave out.
TUNED = {
    "pytensor": ("PyTensor", {}),
    "pytensor-unguarded": ("PyTensor, unguarded", {"guard": False}),
    "pytensor-without-kernels": ("PyTensor, without kernels", {"cpu_kernels": False}),
}
COUNTED = (*TUNED, "pure")
SIDES = [*TUNED, "pure", *TORCH]


class SideError(RuntimeError):
    """A failure in a side's process, which writes the traceback to its standard error."""


class DoesNotFit(SideError):
    """A side needs more memory than there is."""


class SideProcess:
    """A side's process, which ends with the ``with`` statement, or with this process.

    Parameters
    ----------
    key : str
        Of `SIDES`, for messages.
    command : sequence of str, optional
        What the process runs, in `ROOT`.
    """

    def __init__(self, key, command=None):
        self.key = key
        # A group of its own: Ctrl-C reaches this process alone, which ends the others; and what a
        # side has started, such as a compiler, ends with the side.
        self._process = subprocess.Popen(
            command or program_command(__spec__.name), cwd=ROOT, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def call(self, method, *arguments):
        """Call a method of `ServedSide` there, and wait.

        Parameters
        ----------
        method : str
        *arguments : what JSON can hold

        Returns
        -------
        What the method returns.

        Raises
        ------
        DoesNotFit
            If there wasn't enough memory.
        SideError
            If the method failed otherwise, or the process ended.
        """
        with suppress(BrokenPipeError):  # then there is no answer either
            self._process.stdin.write(json.dumps([method, *arguments]) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            ended = how_it_ended(self._process.wait()) or "too early"
            raise SideError(f"the process of the side {self.key} ended: {ended}")
        answer = json.loads(line)
        if "error" in answer:
            kind = DoesNotFit if answer["out_of_memory"] else SideError
            raise kind(f"side {self.key}: {answer['error']}")
        return answer["result"]

    def close(self):
        """End the process, whatever it does."""
        end_group(self._process)
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(BrokenPipeError):
                pipe.close()


class ServedSide:
    """A side, in the process that is its own."""

    def set_allocator(self, choice):
        """Keep freed memory, or leave the allocator as it is; before any other call.

        Parameters
        ----------
        choice : "kept" or "default"

        Returns
        -------
        str
            What the process has.
        """
        self._allocator = "default"
        if choice == "kept" and step_sides.keep_freed_memory():
            self._allocator = "kept"
        return self._allocator

    def start(self, key, size, weights, options):
        """Make the side and run its first step.

        Parameters
        ----------
        key : str
            Of `SIDES`.
        size : image size, batch size
        weights : str
            File with a state dict, of `numpy.savez`.
        options : dict
            Of `make_side`, and ``matmul_precision`` and ``backend``.

        Returns
        -------
        dict
            The side's ``name``, its ``losses``, what matrix products are computed in (``matmul``),
            and PyTorch's version (``torch``) if it has one.
        """
        options, self._key = SimpleNamespace(**options), key
        if key in TORCH:
            import torch
        else:
            torch = None
        step_sides.use_matmul_precision(options.matmul_precision, torch)
        with np.load(weights) as arrays:
            self._side = make_side(key, size, dict(arrays), options)
        image_size, batch_size = size
        self._samples = [
            self._side.place(draw_sample(seed, batch_size, image_size)) for seed in range(SAMPLES)
        ]
        losses, _ = self._side.run(self._samples[0], 0)
        answer = {
            "name": self._side.name,
            "losses": {name: float(value) for name, value in losses.items()},
            "matmul": step_sides.matmul_precision(),
            "torch": torch and torch.__version__,
        }
        self._clock = clocks()
        return answer

    def run(self, number, steps):
        """Run a block of steps, the first with this number; return when all have ended.

        Returns
        -------
        dict
            ``seconds`` and minor ``page_faults``, per step; ``waited``, the seconds since the
            side's last block, and ``idled``, the processor's seconds that it took meanwhile.
        """
        before = clocks()
        for k in range(steps):
            self._side.run(self._samples[k % SAMPLES], number + k)
        self._side.wait()
        after = clocks()
        answer = {
            "seconds": (after.time - before.time) / steps,
            "page_faults": (after.page_faults - before.page_faults) / steps,
            "waited": before.time - self._clock.time,
            "idled": before.processor - self._clock.processor,
        }
        self._clock = clocks()
        return answer

    def figures(self):
        """Return what XLA counts (``cost``), and the device's memory (``peak_bytes``)."""
        return {
            "cost": cost(self._side) if self._key in COUNTED else None,
            "peak_bytes": step_sides.peak_bytes(self._side),
        }


def clocks():
    """Return time, processor time of all threads, and minor page faults, of this process."""
    return SimpleNamespace(
        time=time.perf_counter(),
        processor=time.process_time(),
        page_faults=resource.getrusage(resource.RUSAGE_SELF).ru_minflt,
    )


def make_side(key, size, weights, options):
    """Make the side of a name in `SIDES`.

    Parameters
    ----------
    key : str
    size : image size, batch size
    weights : dict
        A state dict.
    options : namespace
        With ``precision``, ``devices`` and JAX's ``backend``.
    """
    common = {"precision": options.precision}
    if key in TORCH:
        return TorchStep(*size, weights, **TORCH[key], **common, backend=options.backend)
    common["devices"] = options.devices
    if key == "pure":
        return PureStep(*size, weights, **common)
    name, without = TUNED[key]
    side = DemoStep(*size, weights, **without, **common)
    side.name = name
    return side


def cost(side):
    """Return what XLA counts for a side's program."""
    function, arguments = side.program()
    # JAX keeps what it has compiled: this is the program that ran.
    program = function.lower(*arguments).compile()
    costs = program.cost_analysis()
    memory = program.memory_analysis()
    over_arguments = memory.alias_size_in_bytes
    return {
        **{name: costs[name] for name in COSTS},
        # One figure for both, as a program keeps temporary values in its results' place, too.
        "bytes allocated": memory.temp_size_in_bytes + memory.output_size_in_bytes - over_arguments,
        "bytes written over arguments": over_arguments,
    }


def answer_to(served, line):
    """Call the method that a line names; return its result or its error, for JSON."""
    method, *arguments = json.loads(line)
    try:
        return {"result": getattr(served, method)(*arguments)}
    except Exception as error:
        traceback.print_exc()
        first_line = (str(error).strip() or "no message").splitlines()[0]
        return {
            "error": f"{type(error).__name__}: {first_line[:200]}",
            "out_of_memory": step_sides.out_of_memory(error),
        }


def read_lines(file, lines):
    """Put a file's lines into a queue; at its end, end this process and all that it started."""
    for line in file:
        lines.put(line)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def main():
    # What libraries print must not get between the answers.
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        served, lines = ServedSide(), queue.SimpleQueue()
        # The first call sets the allocator, and must do so before there is a second thread.
        line = sys.stdin.readline()
        # In a thread, so that the end of the input is seen in the middle of a compilation, too.
        reader = threading.Thread(target=read_lines, args=(sys.stdin, lines), daemon=True)
        while line:
            answers.write(json.dumps(answer_to(served, line)) + "\n")
            answers.flush()
            if reader.ident is None:
                reader.start()
            line = lines.get()


if __name__ == "__main__":
    main()
