"""Processes of which one is killed at a random moment, again and again.

    python -m tests.link.jax.parallel.killed_processes TIMES PROCESSES SEED

It prints JSON: a list of [number of the lost process, seconds until all others had ended, their
exit codes, what each of them printed].  The processes are forks, before JAX has started, for
imports take longer than all the rest.
"""

import json
import os
import random
import signal
import socket
import sys
import tempfile
import time
import traceback

import numpy as np

from pytensor.link.jax.parallel.devices import Devices
from pytensor.link.jax.parallel.processes import join

LIMIT_S = 120


def work(port, count, number, report):
    """Meet the others again and again; a byte into `report` says that it began."""
    group = join(f"127.0.0.1:{port}", count, number)
    devices = Devices()
    try:
        int(devices.maximum(0))
        os.write(report, b"x")
        while True:
            devices.gather(np.full((number, 2), int(devices.maximum(number)), np.float32))
    except Exception:  # Gloo's are of several kinds, and name nobody
        group.fail(traceback.format_exc())


def fork(port, count, number, report, log):
    """Start one of the processes; return its process id."""
    if child := os.fork():
        return child
    os.dup2(log, 2)
    try:
        work(port, count, number, report)
    finally:
        os._exit(99)


def lose_one(count, moment, lost):
    """Kill one of so many processes after some seconds; return a row of the result."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began, report = os.pipe()
    logs = [tempfile.TemporaryFile() for _ in range(count)]  # noqa: SIM115
    children = [fork(port, count, k, report, log.fileno()) for k, log in enumerate(logs)]
    for _ in children:
        os.read(began, 1)
    time.sleep(moment)
    os.kill(children[lost], signal.SIGKILL)
    begin, codes = time.monotonic(), {}
    while len(codes) < count and time.monotonic() < begin + LIMIT_S:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child:
            codes[child] = os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    seconds = time.monotonic() - begin
    for child in set(children) - set(codes):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    os.close(began)
    os.close(report)
    texts = []
    for log in logs:
        log.seek(0)
        texts.append(log.read().decode())
        log.close()
    others = [k for k in range(count) if k != lost]
    return [lost, seconds, [codes.get(children[k]) for k in others], [texts[k] for k in others]]


def main():
    times, count, seed = map(int, sys.argv[1:])
    draws = random.Random(seed)
    found = [lose_one(count, draws.uniform(0, 2), draws.randrange(count)) for _ in range(times)]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
