"""One training step of YOLO11n as compiled functions.

Everything that a step changes (weights, momentum, averages, running statistics) is a shared
variable that stays on the device; what a step reads from the host is a batch and four numbers.
"""

from importlib import import_module
from typing import NamedTuple

import jax
import numpy as np
from loss import CHUNK, yolo_loss
from training.recipe import (
    CLASS_BRANCH_FACTOR,
    LAST_LAYER_FACTOR,
    TRAINED_SHARE,
    Rates,
    make_optimizer,
    of_class_branch,
    of_last_layer,
    parameter_groups,
)

import pytensor
import pytensor.layers
import pytensor.tensor as pt
from pytensor.compile.mode import get_mode
from pytensor.link.jax import jax_mode
from pytensor.link.jax.linker import JAXLinker
from pytensor.link.jax.mode.building import paused_collection, quick_building
from pytensor.link.jax.profiling.attribution import describe
from pytensor.link.mlx.linker import MLXLinker
from pytensor.link.pytorch.linker import PytorchLinker
from pytensor.optimizers import (
    ExponentialMovingAverage,
    GradientAccumulator,
    clip_by_global_norm,
    merge_updates,
)
from pytensor.tensor.collectives import all_reduce

MAX_GRADIENT_NORM = 10.0
LOSS_PARTS = ("box_loss", "cls_loss", "dfl_loss")
# Which modules have other modes than PyTensor's; they load what compiles, so not at once.
OWN_MODES = {
    "MLX": ("pytensor.link.mlx.corrected", "mlx_mode"),
    "NUMBA": ("pytensor.link.numba.parts", "numba_mode"),
    "PYTORCH": ("pytensor.link.pytorch.corrected", "pytorch_mode"),
}


def training_mode(
    name="JAX", precision="float32", keep_programs=True, mesh=None, sync_batchnorm=False
):
    """Return PyTensor's mode for a training step.

    "JAX" is `pytensor.link.jax.jax_mode`, which takes the other arguments, and see
    `OWN_MODES`; any other name is PyTensor's own mode.
    """
    if uses_jax(name):
        # New weights, momenta and averages are written over the old ones.
        return jax_mode(
            donate=True, precision=precision, keep_programs=keep_programs, cpu_kernels=True,
            mesh=mesh, sync_batchnorm=sync_batchnorm,
        )  # fmt: skip
    if precision != "float32":
        raise ValueError(f"precision {precision} is for the mode JAX, not {name}")
    if name.upper() in OWN_MODES:
        module, function = OWN_MODES[name.upper()]
        return getattr(import_module(module), function)()
    return get_mode(name)


def uses_jax(mode):
    """Return whether a mode, or the one of a name, compiles by JAX."""
    return isinstance(get_mode(mode).linker, JAXLinker)


def has_loops(mode):
    """Return whether a mode, or the one of a name, can compile a scan."""
    return not isinstance(get_mode(mode).linker, MLXLinker | PytorchLinker)


class HostImages:
    """Images that come with every batch from the host: RGB, uint8 or float32 in 0..1.

    A step takes `variables`, sees `images`, float32 (batch, 3, size, size) in 0..1, and reads
    `shared`, variables on the device: none here.
    """

    def __init__(self, image_size, batch_size, dtype="uint8"):
        images = image_input(image_size, batch_size, dtype)
        self.variables, self.images, self.shared = [images], to_float(images), []

    def arguments(self, batch):
        """Return a batch's values of `variables`."""
        return [batch.images]


def draws_on_device(choice, squares):
    """Return whether training images are drawn on the device; `choice` is "on", "off", "auto".

    "auto" does where JAX has a GPU and the data set fits in half of its free memory.
    """
    if choice != "auto":
        return choice == "on"
    device = jax.local_devices()[0]
    memory = device.memory_stats()
    if device.platform != "gpu" or memory is None:
        return False
    return squares.nbytes <= (memory["bytes_limit"] - memory["bytes_in_use"]) / 2


class DeviceImages:
    """Images that are drawn on the device by plans, in a mode that compiles by JAX.

    The letterboxed images `squares`, uint8 (images, size, size, 3), are copied there once. Up to
    `pasted` things of other images are drawn into each.
    """

    def __init__(self, squares, image_size, batch_size, pasted=0):
        from data.drawing import plan_variables, render_graph  # imports Numba: half a second

        data = pytensor.shared(squares, name="squares", shape=squares.shape, borrow=True)
        # set_value would make a NumPy array of it, which travels with every call.
        data.container.storage[0] = jax.device_put(squares)
        plan = plan_variables(batch_size, pasted)
        self.images = render_graph(data, plan, image_size)
        self.variables, self.shared = list(plan), [data]

    def arguments(self, batch):
        """Return a batch's values of `variables`."""
        return list(batch.plan)


class DeviceBatch(NamedTuple):
    """A batch whose arrays are on the device, or on their way."""

    batch: object
    arrays: list


class TrainStep:
    """The compiled step of one model for one batch shape.

    With `max_accumulate` 1, forward, backward and update are one function.  Else gradients are
    added up by one function and applied by another, on the same shared variables.  With `layers`,
    batches say for that number of layers of each image which classes are labelled there; with
    `regions`, they have that number of rows of regions that are left out of the loss.  With several
    `devices`, of the mesh that `mode` has, the graph is that of one of them and its rows; `place`
    puts the values of shared variables where they shall be, and `put` the arrays of a batch.
    `before` is a model of the starting weights, whose predictions are to stay where images aren't
    labelled.  Then normalizations keep their running statistics, too, and the averages stay nearer
    to the starting weights, except the rows of `new` classes.

    By name, `state` has all shared variables that must be saved besides the model's, and
    `averages` the averages of parameters and running statistics.  `variables` is all that the step
    reads or writes.
    """

    def __init__(
        self,
        model,
        image_size,
        batch_size,
        max_boxes,
        weight_decay,
        max_accumulate=1,
        mode=None,
        *,
        optimizer="sgd",
        images=None,
        layers=None,
        regions=0,
        devices=1,
        place=None,
        put=None,
        before=None,
        new=(),
    ):
        self.mode = training_mode() if mode is None else get_mode(mode)
        self.model, self.optimizer, self.before, self.new = model, optimizer, before, [*new]
        self.place, self.put, self.devices = place, put, devices
        self.layers, self.regions = layers, regions
        self.on_jax = uses_jax(self.mode)
        self._programs = {}
        self.fused = max_accumulate == 1
        rows = batch_size // devices
        self.images = HostImages(image_size, rows) if images is None else images
        with quick_building():
            self._build(rows, max_boxes, weight_decay)
        own = model.named_variables().values()
        self.variables = [*own, *self.state.values(), *self.images.shared]
        self.place_variables()

    def _build(self, rows, max_boxes, weight_decay):
        """Make the graph of `rows` images, the state and the compiled functions."""
        variables = target_inputs(rows, max_boxes)
        if self.layers:
            variables += label_inputs(rows, self.layers, self.model.num_classes)
        if self.regions:
            variables += region_inputs(rows, self.regions)
        targets = {variable.name: variable for variable in variables}
        self.target_names = [*targets]
        inputs = [*self.images.variables, *variables]
        if self.before:  # normalized by running statistics, as the starting weights are
            predictions, statistics = self.model(self.images.images), {}
            before = self.before(self.images.images)
        else:
            with pytensor.layers.training() as statistics:
                predictions = self.model(self.images.images)
            before = None
        chunk = CHUNK if has_loops(self.mode) else None
        total, parts = yolo_loss(
            predictions, targets, self.model.num_classes, self.devices, chunk, before
        )
        outputs = [parts[name] for name in LOSS_PARTS]
        params = self.model.parameters()
        gradients = pytensor.grad(total, params)
        if self.devices > 1:
            outputs, gradients, statistics = over_devices(outputs, gradients, statistics)

        numbers = [pt.scalar(name, dtype="float32") for name in Rates._fields]
        *rates, decay = numbers
        running = [v for v in self.model.named_buffers().values() if v in statistics]
        tracked = [*params, *running]  # not the constants
        self.ema = ExponentialMovingAverage(tracked, decay)
        self.averages = {v.name: a for v, a in zip(tracked, self.ema.averages, strict=True)}
        self.state = dict(self.ema.state)
        if self.before:
            old = self.before.named_variables()
            self.state |= {f"before.{name}": variable for name, variable in old.items()}
        if self.fused:
            updates, norm = self._apply_updates(gradients, *rates, weight_decay)
            updates = merge_updates(updates, statistics)
            updates = merge_updates(updates, self._average(updates))
            self._step = self._compile([*inputs, *numbers], [*outputs, norm], updates)
        else:
            sums = GradientAccumulator(params)
            self.state |= sums.state
            added = merge_updates(sums.add_updates(gradients), statistics)
            self._add = self._compile(inputs, outputs, added)
            updates, norm = self._apply_updates(sums.gradients, *rates, weight_decay)
            updates = merge_updates(updates, self._average(updates))
            updates = merge_updates(updates, sums.reset_updates())
            self._apply = self._compile(numbers, [norm], updates)

    def _average(self, updates):
        """Return the updates of the averages; while classes are kept, by `TRAINED_SHARE`."""
        new_values = dict(updates)
        starts = self.before.named_variables() if self.before else {}
        is_new = np.isin(np.arange(self.model.num_classes), self.new)
        for param in self.model.parameters() if self.before else ():
            share = np.float32(TRAINED_SHARE)
            if of_last_layer(param.name):  # a row for each class; new rows start randomly
                share = np.where(is_new, np.float32(1), share)
                share = share.reshape((-1, *(1,) * (param.type.ndim - 1)))
            start = starts[param.name]
            new_values[param] = start + (new_values[param] - start) * share
        return self.ema.get_updates(new_values)

    def place_variables(self):
        """Call `place` with all variables: once they are made, and after values were loaded."""
        if self.place is not None:
            self.place(self.variables)

    def _apply_updates(self, gradients, lr, bias_lr, momentum, weight_decay):
        clipped, norm = clip_by_global_norm(gradients, MAX_GRADIENT_NORM)
        optimizer = make_optimizer(self.optimizer, lr, momentum)
        factor, fast = CLASS_BRANCH_FACTOR if self.optimizer == "musgd" else 1.0, of_class_branch
        if self.before:
            factor, fast = LAST_LAYER_FACTOR, of_last_layer
        params = self.model.parameters()
        groups = parameter_groups(params, lr, bias_lr, weight_decay, factor, fast)
        updates = optimizer.get_updates(params, clipped, groups=groups)
        self.state |= optimizer.state
        return updates, norm

    def _compile(self, inputs, outputs, updates):
        # AdamW has no use for the momentum, all else is used; to find that out, PyTensor takes time
        # of the square of the inputs' number.
        return pytensor.function(
            inputs, outputs, updates=updates, mode=self.mode, trust_input=True,
            on_unused_input="ignore",
        )  # fmt: skip

    def arguments(self, batch):
        """Return a batch's arrays in the order in which the step takes them."""
        targets = [getattr(batch, name) for name in self.target_names]
        arrays = [*self.images.arguments(batch), *targets]
        return arrays if self.put is None else self.put(arrays)

    def transfer(self, batch):
        """Start to bring a batch to the device, if the mode has one.

        The batch's arrays must not be written to before the step that uses them has ended.
        """
        arrays = self.arguments(batch)
        if self.on_jax and self.put is None:
            arrays = jax.device_put(arrays)
        return DeviceBatch(batch, arrays)

    def run(self, batch, rates, step_now=True):
        """Run one batch, and a step of the optimizer at `rates`, a `Rates`, if `step_now`.

        What is returned, (the three loss parts, the gradient's norm before clipping or None without
        a step), isn't waited for.
        """
        data = batch.arrays if isinstance(batch, DeviceBatch) else self.arguments(batch)
        if self.fused:
            *parts, norm = self._call(self._step, *data, *as_arrays(rates))
            return parts, norm
        parts = self._call(self._add, *data)
        return parts, self.apply(rates) if step_now else None

    def programs(self):
        """List the functions of JAX that were called, with their arguments, for `read_profile`."""
        return list(self._programs.items())

    def _call(self, function, *arguments):
        if self.on_jax and function not in self._programs:
            self._programs[function] = [describe(value) for value in arguments]
            with paused_collection():  # JAX traces and compiles
                return function(*arguments)
        return function(*arguments)

    def apply(self, rates):
        """Step with the gradients accumulated so far; their norm before clipping."""
        return self._call(self._apply, *as_arrays(rates))[0]


def over_devices(losses, gradients, statistics):
    """Sum losses and gradients over the devices, and average running statistics, all at once."""
    new = list(statistics.values())
    summed = [*losses, *gradients]
    reduced = all_reduce([*summed, *new], ["sum"] * len(summed) + ["mean"] * len(new))
    means = dict(zip(statistics, reduced[len(summed) :], strict=True))
    return reduced[: len(losses)], reduced[len(losses) : len(summed)], means


def as_arrays(rates):
    """Return `Rates` as a step takes them, float32 scalars."""
    return [np.asarray(value, dtype=np.float32) for value in rates]


def image_input(image_size, batch_size, dtype="uint8"):
    """Return an input variable of RGB images, of static shape."""
    return pt.tensor("images", dtype=dtype, shape=(batch_size, 3, image_size, image_size))


def target_inputs(batch_size, max_boxes):
    """Return input variables of padded targets, all shapes static."""
    return [
        pt.tensor("boxes", dtype="float32", shape=(batch_size, max_boxes, 4)),
        pt.tensor("classes", dtype="int32", shape=(batch_size, max_boxes)),
        pt.tensor("num_boxes", dtype="int32", shape=(batch_size,)),
    ]


def label_inputs(batch_size, layers, num_classes):
    """Return input variables of what is labelled where; see `loss.yolo_loss`."""
    return [
        pt.tensor("windows", dtype="int32", shape=(batch_size, layers, 4)),
        pt.tensor("labelled", dtype="uint8", shape=(batch_size, layers, num_classes)),
    ]


def region_inputs(batch_size, max_regions):
    """Return input variables of padded regions that are left out; see `loss.yolo_loss`."""
    return [
        pt.tensor("regions", dtype="float32", shape=(batch_size, max_regions, 4)),
        pt.tensor("region_classes", dtype="int32", shape=(batch_size, max_regions)),
    ]


def to_float(images):
    """Convert RGB bytes to float32 in 0..1; float images are that already."""
    if images.type.dtype == "float32":
        return images
    return images.astype("float32") / np.float32(255)


def compile_detector(model, image_size, batch_size, averages=None, mode="JAX"):
    """Compile uint8 images (batch, 3, size, size) -> float32 (batch, 4 + classes, anchors).

    `averages`, by name, take the place of the model's own parameters and statistics.
    """
    images = image_input(image_size, batch_size)
    decoded = model.decode(model(to_float(images)))
    givens = []
    if averages is not None:
        variables = model.named_variables()
        givens = [(variables[name], average) for name, average in averages.items()]
    mode = jax_mode() if uses_jax(mode) else training_mode(mode)
    return pytensor.function([images], decoded, givens=givens, mode=mode, trust_input=True)
