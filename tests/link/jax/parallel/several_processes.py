"""One of several processes that train the small network of `data_parallel`, or lose one of them.

    python -m tests.link.jax.parallel.several_processes WHAT PORT PROCESSES NUMBER

``train`` prints JSON.  With ``late``, the last process takes long to compile.  With ``kill K``,
``stop K`` or ``raise K`` as WHAT, process K comes to an end while the others wait for it, and with
``meet K SECONDS`` at any moment; with ``uneven``, ``other`` the processes don't fit together.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from pytensor.link.jax.parallel import processes
from pytensor.link.jax.parallel.devices import Devices, ParallelError

ROOT = Path(__file__).parents[4]
STEPS = 20
LATE_S = 35.0


def start(what, count, devices=1):
    """Start so many processes of this module; a sequence of `devices` has a number for each."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    devices = [devices] * count if isinstance(devices, int) else devices
    return [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "tests.link.jax.parallel.several_processes", what,
             str(port), str(count), str(number)],
            cwd=ROOT,
            env=os.environ
            | {
                "JAX_PLATFORMS": "cpu",
                "PYTENSOR_FLAGS": "floatX=float64,on_opt_error=raise",
                "XLA_FLAGS": f"--xla_force_host_platform_device_count={own}",
            },
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for number, own in enumerate(devices)
    ]  # fmt: skip


def finish(started, timeout=600):
    """Return (exit code, stdout, stderr) of processes, and leave none behind."""
    try:
        printed = [process.communicate(timeout=timeout) for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()
    return [(p.returncode, *texts) for p, texts in zip(started, printed, strict=True)]


def train(group):
    """Train as `data_parallel` does on one process with as many devices."""
    import numpy as np

    from tests.link.jax.parallel import data_parallel

    devices = Devices()
    devices.check_batch_size(data_parallel.ROWS)
    own = devices.rows(data_parallel.ROWS)
    found = {"rows": [own.start, own.stop]}
    mesh = devices.mesh
    network = data_parallel.DeviceNetwork(mesh, sync_batchnorm=False, cpu_kernels=False)
    devices.replicate(network.variables)
    found |= data_parallel.train(
        network, STEPS, lambda batch: devices.shard([x[own.start : own.stop] for x in batch])
    )
    if group is not None:
        group.check_same("text", lambda: "the same")
    number = 0 if group is None else group.number
    found["maximum"] = int(devices.maximum(7 + number))
    ragged = np.full((2 * number, 3), 10 + number, np.float32)
    found["gathered"] = devices.gather(ragged)[:, 0].tolist()
    found["local"] = [devices.local().count, devices.local().shard([ragged])[0].shape[0]]
    return found


def compile_late(group):
    """Sum up over all devices when the last process has compiled for longer than Gloo waits."""
    import numpy as np

    import pytensor
    import pytensor.tensor as pt
    from pytensor.link.jax import jax_mode
    from pytensor.tensor.collectives import all_reduce

    delay = 0

    @pytensor.wrap_jax
    def traced(x):
        time.sleep(delay)
        return x

    devices, x = Devices(), pt.vector("x", shape=(1,), dtype="float32")
    (total,) = all_reduce([traced(x).sum()])
    add = pytensor.function([x], total, mode=jax_mode(mesh=devices.mesh), trust_input=True)
    rows = devices.shard([np.ones(1, "float32")])
    delay = LATE_S * (group.number == group.count - 1)
    assert [float(add(*rows)) for _ in range(2)] == [group.count] * 2


def meet(group, devices):
    """Exchange arrays of different lengths until a process is lost."""
    import numpy as np

    try:
        while True:
            number = int(devices.maximum(group.number))
            devices.gather(np.full((group.number, 2), number, np.float32))
    except Exception as error:  # Gloo's are of several kinds, and name nobody
        group.fail(str(error))


def lose(group, what):
    """Have a process end by a signal or an error while all others wait in a collective."""
    how, number, *moment = what.split()
    devices, lost = Devices(), group.number == int(number)
    int(devices.maximum(0))
    print("together", flush=True)
    if how == "meet":
        if lost:
            threading.Timer(float(*moment), os.kill, (os.getpid(), signal.SIGKILL)).start()
        meet(group, devices)
    if lost:
        if how == "raise":
            group.fail("its own reason")
        os.kill(os.getpid(), signal.SIGSTOP if how == "stop" else signal.SIGKILL)
    try:
        int(devices.maximum(0))
    except ValueError as error:  # Gloo's, which names nobody
        group.fail(str(error))


def main():
    what, port, count, number = sys.argv[1:]
    if what.startswith("stop"):
        processes.SILENCE_S = 15.0
    group = processes.join(f"127.0.0.1:{port}", int(count), int(number))
    try:
        if what == "train":
            json.dump(train(group), sys.stdout)
        elif what == "late":
            compile_late(group)
        elif what == "uneven":
            Devices()
        elif what == "other":
            group.check_same("weights", lambda: number)
            int(Devices().maximum(0))
        else:
            lose(group, what)
    except ParallelError as error:
        group.fail(str(error))
    if group is not None:
        group.leave()


if __name__ == "__main__":
    main()
