"""A small network, trained on one device and on several.

    python -m tests.link.jax.parallel.data_parallel

The number of devices is fixed when JAX starts, so `found_by` runs it as a process of its own, and
reads what it prints as JSON.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import jax.monitoring
import numpy as np

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
from pytensor.link.jax.parallel.devices import Devices
from pytensor.link.jax.parallel.sharding import is_replicated
from pytensor.optimizers import SGD, ExponentialMovingAverage, merge_updates
from pytensor.tensor.collectives import all_reduce

DEVICES, ROWS, STEPS = 8, 8, 50
MOMENTUM = 0.1


def found_by(*program, devices):
    """Return the output of a program, ``-m MODULE`` or ``-c CODE``, on virtual devices."""
    process = subprocess.run(
        [sys.executable, "-W", "error", *program],
        cwd=Path(__file__).parents[4],
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

    With several `parts` of the rows, each part is normalized by its own statistics.
    """

    def __init__(self, parts=1, mode="JAX"):
        self.rng = np.random.default_rng(1)
        self.params, self.statistics = [], []
        images = pt.tensor("images", shape=(ROWS, 3, 6, 10))
        targets = pt.tensor("targets", shape=(ROWS, 4))
        self.rows = [slice(k * ROWS // parts, (k + 1) * ROWS // parts) for k in range(parts)]
        self._build(images, targets, mode)

    def _build(self, images, targets, mode):
        layers = [self.layer(3, None), self.layer(6, 1), self.layer(6, 6)]
        matrix = self.parameter((6, 4), 0.5)
        total, new = 0, []
        for rows in self.rows:
            x, statistics = images[rows], []
            for layer in layers:
                x, of_layer = layer(x)
                statistics += of_layer
            new.append(statistics)
            total += pt.sqr(x.mean((2, 3)) @ matrix - targets[rows]).sum()
        new = [sum(values) / len(self.rows) for values in zip(*new, strict=True)]
        number = pt.constant(np.float64(targets.type.shape[0] * 4))
        loss = total / all_reduce([number])[0]
        gradients = pytensor.grad(loss, self.params)
        reductions = ["sum"] * (1 + len(gradients)) + ["mean"] * len(new)
        loss, *reduced = all_reduce([loss, *gradients, *new], reductions)
        gradients, new = reduced[: len(gradients)], reduced[len(gradients) :]
        updates = SGD(0.1, momentum=0.9).get_updates(self.params, gradients)
        updates = merge_updates(updates, dict(zip(self.statistics, new, strict=True)))
        average = ExponentialMovingAverage(self.params, 0.9)
        updates = merge_updates(updates, average.get_updates(updates))
        self.step = pytensor.function(
            [images, targets], loss, updates=updates, mode=mode, trust_input=True
        )
        self.variables = list(updates)
        self.input_mean, self.input_variance = self.statistics[:2]
        self.initial = [np.array(v.get_value()) for v in self.variables]

    def parameter(self, shape, scale):
        value = self.rng.normal(0, scale, shape)
        self.params.append(pytensor.shared(value, name=f"p{len(self.params)}", shape=shape))
        return self.params[-1]

    def layer(self, channels, groups):
        """Return a function: a normalization, behind a convolution if there are groups, and SiLU.

        It returns its output and the new running statistics.
        """
        filters = groups and self.parameter(
            (channels, (3 if groups == 1 else 6) // groups, 3, 3), 0.3
        )
        gamma, beta = self.parameter((channels,), 1.0), self.parameter((channels,), 1.0)
        mean, variance = (
            pytensor.shared(value, shape=(channels,), name=f"{name}{len(self.statistics) // 2}")
            for name, value in [("mean", np.zeros(channels)), ("variance", np.ones(channels))]
        )
        self.statistics += [mean, variance]

        def apply(x):
            if filters is not None:
                x = pt.conv2d(x, filters, border_mode=1, num_groups=groups, filter_flip=False)
            x, _, _, *new = pt.batch_normalization_train(
                x, gamma, beta, axes="spatial", running_average_factor=MOMENTUM,
                running_mean=mean, running_var=variance,
            )  # fmt: skip
            return x if filters is None else pt.silu(x), new

        return apply

    def reset(self):
        """Go back to the initial values, on the host."""
        for variable, value in zip(self.variables, self.initial, strict=True):
            variable.set_value(value)

    def compiled_text(self, batch):
        """Return XLA's program for a batch, from the values that the variables have now."""
        inputs = [storage[0] for storage in self.step.vm.inputs]
        return self.step.vm.jit_fn.lower(*batch, *inputs[len(batch) :]).compile().as_text()


class DeviceNetwork(Network):
    """The same network as the graph of one device of a mesh, which sees its own rows."""

    def __init__(self, mesh, *, sync_batchnorm, cpu_kernels=True):
        self.rng = np.random.default_rng(1)
        self.params, self.statistics = [], []
        rows = ROWS // mesh.size
        images = pt.tensor("images", shape=(rows, 3, 6, 10))
        targets = pt.tensor("targets", shape=(rows, 4))
        self.rows = [slice(None)]
        mode = jax_mode(
            mesh=mesh, sync_batchnorm=sync_batchnorm, donate=True, cpu_kernels=cpu_kernels
        )
        self._build(images, targets, mode)


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
    return {"losses": losses, "compiled_later": len(compiled) - first}


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


def main():
    found = {"1": train(Network(), STEPS)}
    for count in (2, DEVICES):
        mesh = Devices(count).mesh
        found[f"{count} parts"] = train(Network(parts=count), STEPS)
        for sync in (False, True):
            own = DeviceNetwork(mesh, sync_batchnorm=sync)
            found[f"{count} {'sync' if sync else 'own'}"] = on_devices(own, count)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
