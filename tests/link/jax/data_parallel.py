"""A small network, trained on one device and on several.

    python -m tests.link.jax.data_parallel

The number of devices is fixed when JAX starts, so `found_by` runs it as a process of its own, and
reads what it prints as JSON.
"""

import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import jax
import jax.monitoring
import numpy as np

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax.devices import Devices
from pytensor.link.jax.sharding import (
    data_parallel_mesh,
    is_replicated,
    replicate,
    shard_batch,
)
from pytensor.optimizers import SGD, ExponentialMovingAverage, merge_updates

DEVICES, ROWS, STEPS = 8, 8, 50
MOMENTUM = 0.1


def found_by(module, devices):
    """Return what a module prints as a process with so many virtual devices."""
    process = subprocess.run(
        [sys.executable, "-W", "error", "-m", module],
        cwd=Path(__file__).parents[3],
        env=os.environ
        | {
            "JAX_PLATFORMS": "cpu",
            "PYTENSOR_FLAGS": "floatX=float64,on_opt_error=raise",
            "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    return json.loads(process.stdout)


class Network:
    """Batch normalization, then twice convolution, batch normalization and SiLU, then a loss.

    Attributes
    ----------
    step : compiled function (images (8, 3, 6, 10), targets (8, 4)) -> loss
    variables : list of shared variable
        Parameters, running statistics, momentum and averages.
    input_mean, input_variance : shared variable
        Running statistics of the images.
    """

    def __init__(self):
        self.rng = np.random.default_rng(1)
        self.params, self.statistics = [], []
        images = pt.tensor("images", shape=(ROWS, 3, 6, 10))
        targets = pt.tensor("targets", shape=(ROWS, 4))
        x = self.normalize(images)
        self.input_mean, self.input_variance = (v for v, _ in self.statistics)
        for channels, groups in [(6, 1), (6, 6)]:
            filters = self.parameter((channels, x.type.shape[1] // groups, 3, 3), 0.3)
            x = pt.conv2d(x, filters, border_mode=1, num_groups=groups, filter_flip=False)
            x = pt.silu(self.normalize(x))
        loss = pt.sqr(x.mean((2, 3)) @ self.parameter((6, 4), 0.5) - targets).mean()
        gradients = pytensor.grad(loss, self.params)
        updates = SGD(0.1, momentum=0.9).get_updates(self.params, gradients)
        updates = merge_updates(updates, dict(self.statistics))
        average = ExponentialMovingAverage(self.params, 0.9)
        updates = merge_updates(updates, average.get_updates(updates))
        self.step = pytensor.function(
            [images, targets], loss, updates=updates, mode="JAX", trust_input=True
        )
        self.variables = list(updates)
        self.initial = [np.array(v.get_value()) for v in self.variables]

    def parameter(self, shape, scale):
        value = self.rng.normal(0, scale, shape)
        self.params.append(pytensor.shared(value, name=f"p{len(self.params)}", shape=shape))
        return self.params[-1]

    def normalize(self, x):
        channels = x.type.shape[1]
        gamma, beta = self.parameter((channels,), 1.0), self.parameter((channels,), 1.0)
        mean, variance = (
            pytensor.shared(value, shape=(channels,), name=f"{name}{len(self.statistics) // 2}")
            for name, value in [("mean", np.zeros(channels)), ("variance", np.ones(channels))]
        )
        x, _, _, new_mean, new_variance = pt.batch_normalization_train(
            x,
            gamma,
            beta,
            axes="spatial",
            running_average_factor=MOMENTUM,
            running_mean=mean,
            running_var=variance,
        )
        self.statistics += [(mean, new_mean), (variance, new_variance)]
        return x

    def reset(self):
        """Go back to the initial values, on the host."""
        for variable, value in zip(self.variables, self.initial, strict=True):
            variable.set_value(value)

    def compiled_text(self, batch):
        """Return XLA's program for a batch, from the values that the variables have now."""
        inputs = [storage[0] for storage in self.step.vm.inputs]
        return self.step.vm.jit_fn.lower(*batch, *inputs[len(batch) :]).compile().as_text()


def batches():
    """Yield batches whose rows differ in mean: a part's statistics are far from the batch's."""
    rng = np.random.default_rng(2)
    offsets = np.arange(ROWS)[:, None, None, None]
    while True:
        yield [rng.normal(size=(ROWS, 3, 6, 10)) + offsets, rng.normal(size=(ROWS, 4))]


def train(network, steps, shard=list):
    """Return losses of so many steps, and how many programs were compiled after the first one."""
    losses, compiled = [], []

    def listen(event, duration, **kwargs):
        if event == "/jax/core/compile/backend_compile_duration":
            compiled.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    for batch, _ in zip(batches(), range(steps), strict=False):
        loss = network.step(*shard(batch))
        if not losses:
            first = len(compiled)
        losses.append(float(loss))
    jax.monitoring.unregister_event_duration_listener(listen)
    return {"losses": losses, "compiled_first": first, "compiled_later": len(compiled) - first}


def identical(variables):
    """Return whether all devices of this process hold the same values, bit for bit."""
    copies = [v.get_value(borrow=True).addressable_shards for v in variables]
    return all(len({np.asarray(c.data).tobytes() for c in shards}) == 1 for shards in copies)


def collectives(text):
    """Return names of what the devices exchange in a program, one entry per message."""
    names = (
        "all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter|collective-broadcast"
    )
    return re.findall(rf"\s({names})(?:-start)?\(", text)


def on_devices(network, count):
    """Train on so many devices."""
    network.reset()
    devices = Devices(count)
    devices.replicate(network.variables)
    found = train(network, 1, devices.shard)
    found["statistics"] = [
        np.asarray(v.get_value()).tolist() for v in (network.input_mean, network.input_variance)
    ]
    network.reset()
    devices.replicate(network.variables)
    again = train(network, STEPS, devices.shard)
    found["losses"], found["compiled_later"] = again["losses"], again["compiled_later"]
    found["replicated"] = all(
        is_replicated(v.get_value(borrow=True), devices.mesh) for v in network.variables
    )
    found["identical"] = identical(network.variables)
    batch = devices.shard(next(batches()))
    found["collectives"] = collectives(network.compiled_text(batch))
    return found


def raised(function, *args):
    """Return message of the error that a call raises."""
    try:
        function(*args)
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def other_findings():
    """Return what needs several devices, but no network."""
    mesh = data_parallel_mesh()
    rows, table = pt.matrix("rows", shape=(8, 3)), pytensor.shared(np.zeros((8, 3)), name="table")
    keep = pytensor.function([rows], rows.sum(), updates={table: rows * 2}, mode="JAX",
                             trust_input=True)  # fmt: skip
    values = np.arange(24.0).reshape(8, 3)
    replicate([table], mesh)
    keep(*shard_batch([values], mesh))

    large, other = (pytensor.shared(np.zeros((8, 3)), borrow=True) for _ in range(2))
    large.container.storage[0] = jax.device_put(np.ones((8, 3)))
    replicate([large], mesh)
    placed = large.get_value(borrow=True)
    replicate([large, other], mesh)

    rng = pytensor.shared(np.random.default_rng(3), name="generator")
    _, noise = pt.random.normal(size=(8, 3), rng=rng, return_next_rng=True)
    return {
        "stays": placed is large.get_value(borrow=True) and np.all(placed == 1).item(),
        "both": [is_replicated(v.get_value(borrow=True), mesh) for v in (large, other)],
        "table": is_replicated(table.get_value(borrow=True), mesh),
        "not placed": is_replicated(np.zeros(2), mesh),
        "indivisible": raised(shard_batch, [values, values[:6]], mesh),
        "scalar": raised(shard_batch, [np.float64(1)], mesh),
        "generator": raised(replicate, [rng], mesh),
        "twice": raised(data_parallel_mesh, [jax.devices()[0]] * 2),
        "none": raised(data_parallel_mesh, []),
        "noise": _noise(rows, noise, values, mesh),
    }


def _noise(rows, noise, values, mesh):
    """Return rows plus random numbers, on one device and on several."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The RandomType SharedVariables")
        functions = [
            pytensor.function([rows], rows + noise, mode="JAX", trust_input=True) for _ in range(2)
        ]
    one, several = functions[0](values), functions[1](*shard_batch([values], mesh))
    return {"equal": np.array_equal(one, several), "shards": len(several.addressable_shards)}


def main():
    network = Network()
    found = {"1": train(network, STEPS)} | {
        str(count): on_devices(network, count) for count in (2, DEVICES)
    }
    json.dump(found | {"other": other_findings()}, sys.stdout)


if __name__ == "__main__":
    main()
