"""Benchmarks run as separate processes: with a time limit, and without one failing the rest."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run_benchmark(program, arguments, timeout, environment=None):
    """Run one of the benchmarks with ``--json``.

    Parameters
    ----------
    program : str
        Name of its module below `benchmarks`, such as ``step.train_step``.
    arguments : sequence
        Of its command line.
    timeout : float
        Seconds until it is ended, with all processes that it has started.
    environment : dict, optional
        Variables to set.

    Returns
    -------
    result : dict or None
        What it has written so far, if anything.
    reason : str or None
        Why it didn't end well, if it didn't.
    """
    with tempfile.TemporaryDirectory() as folder:
        path, errors = Path(folder) / "result.json", Path(folder) / "errors"
        command = program_command(f"benchmarks.{program}", *arguments, "--json", path)
        with errors.open("w") as file:
            process = subprocess.Popen(
                command, cwd=ROOT, env=os.environ | (environment or {}), stderr=file,
                start_new_session=True,
            )  # fmt: skip
            reason = wait_for(process, timeout)
        if reason and reason.startswith("exit"):
            reason = f"{reason}: {last_line(errors.read_text())}"
        return (json.loads(path.read_text()) if path.exists() else None), reason


def answer_of(module, *arguments, environment=None):
    """Run a module to its end; what it writes to standard error is shown.

    Returns
    -------
    The value that it prints as JSON, in its last line.

    Raises
    ------
    RuntimeError
        If it fails.
    """
    done = subprocess.run(
        program_command(module, *arguments), cwd=ROOT, env=os.environ | (environment or {}),
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    if reason := how_it_ended(done.returncode):
        raise RuntimeError(f"{module} {' '.join(map(str, arguments))}: {reason}; see above")
    return json.loads(done.stdout.splitlines()[-1])


def program_command(module, *arguments):
    """Return the command line of a module, for a process that starts in `ROOT`."""
    return [sys.executable, "-m", module, *map(str, arguments)]


def wait_for(process, timeout):
    """Wait for a process to end; return why it didn't end well within its time, or None."""
    try:
        status = process.wait(timeout)
    except subprocess.TimeoutExpired:
        status = None
    finally:
        end_group(process)
    if status is None:
        return f"took longer than {timeout:.0f} s"
    return how_it_ended(status)


def how_it_ended(status):
    """Say in words what a process's status means; None if it ended well."""
    if status < 0:
        name = signal.Signals(-status).name
        return f"ended by {name}" + (": too little memory?" if name == "SIGKILL" else "")
    return f"exit status {status}" if status else None


def end_group(process):
    """End what a process has left running, as compilers do, and itself."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def end_children_when_terminated():
    """Let SIGTERM raise SystemExit: it would else leave the benchmark at work running."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def last_line(text):
    """Return the last line that says something, shortened."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no message"


def device_facts():
    """Return JAX's backend, and its devices' kind and number, and the name of the first.

    A process that ends at once asks for them: JAX takes most of a GPU's memory at its start.

    Raises
    ------
    RuntimeError
        If JAX doesn't start.
    """
    code = (
        "import jax, json; d = jax.devices(); print(json.dumps("
        "{'backend': jax.default_backend(), 'kind': d[0].device_kind, 'devices': len(d), "
        "'name': str(d[0])}))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if answer.returncode:
        raise RuntimeError(f"JAX doesn't start: {last_line(answer.stderr)}")
    return json.loads(answer.stdout.splitlines()[-1])
