"""One training step of YOLO11n as compiled functions.

Everything that a step changes (weights, momentum, averages, running statistics) is a shared
variable that stays on the device; what a step reads from the host is a batch and four numbers.
"""

import math
from importlib import import_module
from typing import NamedTuple

import numpy as np
from loss import yolo_loss
from training.recipe import CLASS_BRANCH_FACTOR, make_optimizer, parameter_groups

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import get_mode
from pytensor.link.jax.linker import JAXLinker
from pytensor.link.jax.tuned import jax_mode
from pytensor.link.jax.tuned.building import paused_collection, quick_building
from pytensor.optimizers import (
    ExponentialMovingAverage,
    GradientAccumulator,
    clip_by_global_norm,
    merge_updates,
)

MAX_GRADIENT_NORM = 10.0
LOSS_PARTS = ("box_loss", "cls_loss", "dfl_loss")
# Which modules have other modes than PyTensor's; they load what compiles, so not at once.
OWN_MODES = {
    "MLX": ("pytensor.link.mlx.corrected", "mlx_mode"),
    "NUMBA": ("pytensor.link.numba.parts", "numba_mode"),
    "PYTORCH": ("pytensor.link.pytorch.corrected", "pytorch_mode"),
}


def training_mode(name="JAX", precision="float32", keep_programs=True):
    """PyTensor's mode for a training step.

    Parameters
    ----------
    name : str
        "JAX" is `pytensor.link.jax.tuned.jax_mode`, and see `OWN_MODES`; any other name is
        PyTensor's own mode.
    precision, keep_programs
        Of `jax_mode`; others have only float32.
    """
    if uses_jax(name):
        # New weights, momenta and averages are written over the old ones.
        return jax_mode(
            donate=True, precision=precision, keep_programs=keep_programs, cpu_kernels=True
        )
    if precision != "float32":
        raise ValueError(f"precision {precision} is for the mode JAX, not {name}")
    if name.upper() in OWN_MODES:
        module, function = OWN_MODES[name.upper()]
        return getattr(import_module(module), function)()
    return get_mode(name)


def uses_jax(mode):
    """Whether a mode, or the one of a name, compiles by JAX."""
    return isinstance(get_mode(mode).linker, JAXLinker)


class HostImages:
    """Images that come with every batch from the host.

    Parameters
    ----------
    image_size, batch_size : int
    dtype : "uint8" or "float32"
        RGB in 0..255 or in 0..1.

    Attributes
    ----------
    variables : list of variable
        What a step takes: the images (batch, 3, size, size).
    images : float32 variable (batch, 3, size, size)
        RGB in 0..1.
    shared : list of shared variable
        Data that lie on the device: none.
    """

    def __init__(self, image_size, batch_size, dtype="uint8"):
        if dtype not in ("uint8", "float32"):
            raise ValueError(f"images are uint8 or float32, not {dtype}")
        images = image_input(image_size, batch_size, dtype)
        self.variables, self.images, self.shared = [images], to_float(images), []

    def arguments(self, batch):
        """Return a batch's values of `variables`."""
        return [batch.images]


class DeviceImages:
    """Images that are drawn on the device, from a data set that lies there, by plans.

    Parameters
    ----------
    squares : uint8 array (images, size, size, 3)
        The letterboxed images of the data set; copied to the device once.
    image_size, batch_size : int

    Attributes
    ----------
    variables : list of variable
        What a step takes: a plan's fields.
    images : float32 variable (batch, 3, size, size)
        RGB in 0..1.
    shared : list of shared variable
        The data set, which belongs to no checkpoint.

    Notes
    -----
    The data set is held by JAX: functions on it need a mode that compiles by JAX.
    """

    def __init__(self, squares, image_size, batch_size):
        # What draws is needed here alone.
        import jax
        from data.drawing import plan_variables, render_graph

        if squares.dtype != np.uint8 or squares.shape[1:] != (image_size, image_size, 3):
            raise ValueError(
                f"squares must be uint8 (images, {image_size}, {image_size}, 3), not "
                f"{squares.dtype} {squares.shape}"
            )
        data = pytensor.shared(squares, name="squares", shape=squares.shape, borrow=True)
        # set_value would make a NumPy array of it, which travels with every call.
        data.container.storage[0] = jax.device_put(squares)
        plan = plan_variables(batch_size)
        self.variables, self.shared = list(plan), [data]
        self.images = render_graph(data, plan, image_size)

    def arguments(self, batch):
        """Return a batch's values of `variables`."""
        return list(batch.plan)


class DeviceBatch(NamedTuple):
    """A batch whose arrays are on the device, or on their way; see `TrainStep.transfer`."""

    batch: object
    arrays: list


class TrainStep:
    """The compiled step of one model for one batch shape.

    Parameters
    ----------
    model : YOLO11n
    image_size, batch_size, max_boxes : int
    weight_decay : float
        Of the convolution filters.
    max_accumulate : int
        With 1, forward, backward and update are one function.  Else gradients are added up by one
        function and applied by another, on the same shared variables.
    mode : Mode or str, optional
        PyTensor's mode or its name; `training_mode()` if not given.
    image_dtype : "uint8" or "float32"
        RGB in 0..255 or in 0..1; unless `images` are given.
    optimizer : "sgd", "adamw" or "musgd"
    images : HostImages or DeviceImages, optional
    place : callable of a list of shared variables, optional
        Puts their values where they shall be, for several devices; see `place_variables`.
    put : callable of a list of arrays -> list of arrays, optional
        Puts a batch's arrays where they shall be.

    Attributes
    ----------
    state : dict of str to shared variable
        All that must be saved beside the model's own variables, by name.
    averages : dict of str to shared variable
        Of parameters and running statistics, by their names.
    variables : list of shared variable
        All that the step reads or writes: the model's, those in `state`, and data on the device.
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
        image_dtype="uint8",
        *,
        optimizer="sgd",
        images=None,
        place=None,
        put=None,
    ):
        self.mode = training_mode() if mode is None else get_mode(mode)
        self.model, self.optimizer = model, optimizer
        self.place, self.put = place, put
        self.on_jax = uses_jax(self.mode)
        self._programs = {}
        self.fused = max_accumulate == 1
        if images is None:
            images = HostImages(image_size, batch_size, image_dtype)
        self.images = images
        with quick_building():
            self._build(image_size, batch_size, max_boxes, weight_decay)
        self.variables = [*model.store.all.values(), *self.state.values(), *images.shared]
        self.place_variables()

    def _build(self, image_size, batch_size, max_boxes, weight_decay):
        """Make the graph, the state and the compiled functions."""
        boxes, classes, num_boxes = target_inputs(batch_size, max_boxes)
        inputs = [*self.images.variables, boxes, classes, num_boxes]
        targets = {"boxes": boxes, "classes": classes, "num_boxes": num_boxes}
        predictions = self.model(self.images.images, training=True)
        total, parts = yolo_loss(predictions, targets, self.model.num_classes)
        outputs = [parts[name] for name in LOSS_PARTS]
        gradients = pytensor.grad(total, self.model.params)

        lr, bias_lr, momentum, decay = (
            pt.scalar(name, dtype="float32") for name in ("lr", "bias_lr", "momentum", "ema_decay")
        )
        rates = (lr, bias_lr, momentum)
        numbers = [lr, bias_lr, decay] if self.optimizer == "adamw" else [*rates, decay]
        tracked = [*self.model.params, *self.model.store.statistics.values()]
        self.ema = ExponentialMovingAverage(tracked, decay)
        self.averages = {v.name: a for v, a in zip(tracked, self.ema.averages, strict=True)}
        self.state = dict(self.ema.state)
        statistics = dict(self.model.updates)
        if self.fused:
            updates, norm = self._apply_updates(gradients, *rates, weight_decay)
            updates = merge_updates(updates, statistics)
            updates = merge_updates(updates, self.ema.get_updates(updates))
            self._step = self._compile([*inputs, *numbers], [*outputs, norm], updates)
        else:
            sums = GradientAccumulator(self.model.params)
            self.state |= sums.state
            added = merge_updates(sums.add_updates(gradients), statistics)
            self._add = self._compile(inputs, outputs, added)
            updates, norm = self._apply_updates(sums.gradients, *rates, weight_decay)
            updates = merge_updates(updates, self.ema.get_updates(updates))
            updates = merge_updates(updates, sums.reset_updates())
            self._apply = self._compile(numbers, [norm], updates)

    def place_variables(self):
        """Call `place` with all variables: once they are made, and after values were loaded."""
        if self.place is not None:
            self.place(self.variables)

    def _apply_updates(self, gradients, lr, bias_lr, momentum, weight_decay):
        clipped, norm = clip_by_global_norm(gradients, MAX_GRADIENT_NORM)
        optimizer = make_optimizer(self.optimizer, lr, momentum)
        factor = CLASS_BRANCH_FACTOR if self.optimizer == "musgd" else 1.0
        params = self.model.params
        groups = parameter_groups(params, lr, bias_lr, weight_decay, factor)
        updates = optimizer.get_updates(params, clipped, groups=groups)
        self.state |= optimizer.state
        return updates, norm

    def _compile(self, inputs, outputs, updates):
        # All inputs are used; to find that out, PyTensor takes time of the square of their number.
        return pytensor.function(
            inputs, outputs, updates=updates, mode=self.mode, trust_input=True,
            on_unused_input="ignore",
        )  # fmt: skip

    def arguments(self, batch):
        """Return a batch's arrays in the order in which the step takes them."""
        arrays = [*self.images.arguments(batch), batch.boxes, batch.classes, batch.num_boxes]
        return arrays if self.put is None else self.put(arrays)

    def transfer(self, batch):
        """Start to bring a batch to the device, for `run`; see `prefetch`.

        The batch's arrays must not be written to before the step that uses them has ended.  In
        modes other than JAX they stay on the host.
        """
        arrays = self.arguments(batch)
        if self.on_jax and self.put is None:
            import jax

            arrays = jax.device_put(arrays)
        return DeviceBatch(batch, arrays)

    def run(self, batch, rates, step_now, steps_done, recipe):
        """Run one batch, and a step of the optimizer if `step_now`.

        Parameters
        ----------
        batch : Batch or DeviceBatch
        rates : (rate, rate of biases, momentum)
        step_now : bool
            Without accumulation every batch is a step.
        steps_done : int
            Steps of the optimizer before this one.
        recipe : Recipe

        Returns
        -------
        The three loss parts and the gradient's norm before clipping (None without a step), as they
        come from the backend: not waited for.
        """
        data = batch.arrays if isinstance(batch, DeviceBatch) else self.arguments(batch)
        if self.fused:
            *parts, norm = self._call(self._step, *data, *self._numbers(rates, steps_done, recipe))
            return parts, norm
        parts = self._call(self._add, *data)
        return parts, self.apply(rates, steps_done, recipe) if step_now else None

    def programs(self):
        """The functions of JAX that were called, each with its arguments, for `read_profile`."""
        return list(self._programs.items())

    def _call(self, function, *arguments):
        if self.on_jax and function not in self._programs:
            from pytensor.link.jax.xla_names import describe

            self._programs[function] = [describe(value) for value in arguments]
            with paused_collection():  # JAX traces and compiles
                return function(*arguments)
        return function(*arguments)

    def apply(self, rates, steps_done, recipe):
        """Step with the gradients accumulated so far; their norm before clipping."""
        return self._call(self._apply, *self._numbers(rates, steps_done, recipe))[0]

    def _numbers(self, rates, steps_done, recipe):
        decay = recipe.ema_decay * (1 - math.exp(-(steps_done + 1) / recipe.ema_steps))
        if self.optimizer == "adamw":
            rates = rates[:2]
        return [np.asarray(v, dtype=np.float32) for v in (*rates, decay)]


def image_input(image_size, batch_size, dtype="uint8"):
    """Input variable of RGB images, of static shape."""
    return pt.tensor("images", dtype=dtype, shape=(batch_size, 3, image_size, image_size))


def target_inputs(batch_size, max_boxes):
    """Input variables of padded targets, all shapes static."""
    return [
        pt.tensor("boxes", dtype="float32", shape=(batch_size, max_boxes, 4)),
        pt.tensor("classes", dtype="int32", shape=(batch_size, max_boxes)),
        pt.tensor("num_boxes", dtype="int32", shape=(batch_size,)),
    ]


def to_float(images):
    """RGB bytes to float32 in 0..1; float images are that already."""
    if images.type.dtype == "float32":
        return images
    return images.astype("float32") / np.float32(255)


def compile_detector(model, image_size, batch_size, averages=None, mode="JAX"):
    """Compile uint8 images (batch, 3, size, size) -> float32 (batch, 4 + classes, anchors).

    Parameters
    ----------
    averages : dict of str to shared variable, optional
        Used in place of the model's own parameters and statistics, by name.
    mode : str
        As for `training_mode`.
    """
    images = image_input(image_size, batch_size)
    decoded = model.decode(model(to_float(images)))
    givens = []
    if averages is not None:
        variables = model.store.trainable | model.store.statistics
        givens = [(variables[name], average) for name, average in averages.items()]
    mode = jax_mode() if uses_jax(mode) else training_mode(mode)
    return pytensor.function([images], decoded, givens=givens, mode=mode, trust_input=True)
