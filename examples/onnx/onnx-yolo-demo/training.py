"""One training step of YOLO11n as compiled functions, its schedule, and validation.

Everything that a step changes (weights, momentum, averages, running statistics) is a shared
variable that stays on the device; what a step reads from the host is a batch and four numbers.
`prefetch` brings the next batch to the device meanwhile, and `IdleClock` tells whether that was in
time.
"""

import math
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from loader import val_batches
from loss import yolo_loss
from model import YOLO11n
from utils import nms, scale_detections

import pytensor
import pytensor.tensor as pt
from pytensor.optimizers import (
    SGD,
    AdamW,
    ExponentialMovingAverage,
    GradientAccumulator,
    clip_by_global_norm,
    merge_updates,
    schedules,
)
from pytensor.optimizers.basic import as_scalar
from pytensor.optimizers.muon import averaged_gradient, orthogonalize_all

MAX_GRADIENT_NORM = 10.0
LOSS_PARTS = ("box_loss", "cls_loss", "dfl_loss")
OPTIMIZERS = ("sgd", "adamw", "musgd", "auto")
SCHEDULES = {"cosine": schedules.cosine, "linear": schedules.linear}
ADAMW_BETAS = (0.9, 0.999)
# MuSGD: what multiplies the rate of the orthogonalized part, and of all parameters of the head's
# class branch. (C3k has a convolution called cv3 too, which isn't meant.)
MUON_SHARE = 0.2
CLASS_BRANCH, CLASS_BRANCH_FACTOR = "model.23.cv3.", 3.0
# Runs with more steps than this are trained with MuSGD if the choice is left to `resolve`.
MANY_STEPS = 10_000


@dataclass(frozen=True)
class Recipe:
    """Numbers of the training recipe.

    Attributes
    ----------
    optimizer : "sgd", "adamw", "musgd" or "auto"
        SGD with Nesterov's momentum, AdamW, `MuSGD`, or what `resolve` chooses.
    lr, final_lr : float
        Learning rate of the first epoch, and the last one's as a fraction of it.
    schedule : "cosine" or "linear"
        How the rate goes from the one to the other, epoch by epoch.
    momentum : float
        Of SGD and MuSGD; AdamW has betas 0.9 and 0.999.
    weight_decay : float
        Only convolution filters decay.
    warmup_epochs : float
        Over so many epochs the rate rises from 0 (that of biases starts at `warmup_bias_lr`), the
        momentum rises from `warmup_momentum`, and the batches per step from 1.
    nominal_batch : int
        Gradients are summed over about as many images before each step.
    ema_decay, ema_steps : float
        After k steps the average's decay is ``ema_decay * (1 - exp(-k / ema_steps))``.
    """

    optimizer: str = "sgd"
    lr: float = 0.01
    final_lr: float = 0.01
    schedule: str = "linear"
    momentum: float = 0.937
    weight_decay: float = 5e-4
    warmup_epochs: float = 3.0
    warmup_bias_lr: float = 0.1
    warmup_momentum: float = 0.8
    nominal_batch: int = 64
    ema_decay: float = 0.9999
    ema_steps: float = 2000.0

    def __post_init__(self):
        for name, choices in [("optimizer", OPTIMIZERS), ("schedule", SCHEDULES)]:
            if getattr(self, name) not in choices:
                raise ValueError(
                    f"{name} must be one of {', '.join(choices)}, not {getattr(self, name)!r}"
                )

    def batches_per_step(self, batch_size):
        """Batches whose gradients make one step, after the warm-up."""
        return max(round(self.nominal_batch / batch_size), 1)


def resolve(recipe, num_images, batch_size, epochs, num_classes):
    """Make the choice that ``optimizer="auto"`` leaves open.

    Parameters
    ----------
    recipe : Recipe
    num_images, batch_size, epochs : int
        Of the training set, of a batch, of the run.
    num_classes : int

    Returns
    -------
    Recipe
        `recipe` itself, unless its optimizer is "auto".  Then, if the run has more than 10,000
        steps of `nominal_batch` images, MuSGD at the rate 0.01, its momentum rising from 0.9 to
        0.937; else AdamW at the rate ``0.01 / (4 + num_classes)`` rounded to 6 decimals.  The
        warm-up's rate of biases starts at 0 with both.  The recipe's own values of these are
        replaced.
    """
    if recipe.optimizer != "auto":
        return recipe
    steps = math.ceil(num_images / max(batch_size, recipe.nominal_batch)) * epochs
    if steps > MANY_STEPS:
        chosen = {"optimizer": "musgd", "lr": 0.01, "momentum": 0.937, "warmup_momentum": 0.9}
    else:
        chosen = {"optimizer": "adamw", "lr": round(0.01 / (4 + num_classes), 6)}
    return replace(recipe, warmup_bias_lr=0.0, **chosen)


class StepSettings:
    """What each iteration of a run uses: rates, momentum, and when to step.

    Parameters
    ----------
    recipe : Recipe
    epochs, batches : int
        Of the run, and of an epoch.
    batch_size : int
    """

    def __init__(self, recipe, epochs, batches, batch_size):
        self.recipe, self.epochs, self.batches = recipe, epochs, batches
        self.factor = SCHEDULES[recipe.schedule](epochs, recipe.final_lr)
        self.accumulate = recipe.batches_per_step(batch_size)
        self.warmup = round(min(recipe.warmup_epochs, epochs - 1) * batches)
        # A run shorter than one step's batches still steps.
        self.accumulate = min(self.accumulate, epochs * batches)
        self.weight_decay = (
            recipe.weight_decay * batch_size * self.accumulate / recipe.nominal_batch
        )

    def at(self, epoch, iteration):
        """Return (rate, rate of biases, momentum, batches per step) of an iteration.

        `iteration` counts from the start of the run; the warm-up ends with number `warmup`.
        AdamW's momentum is its first beta, and isn't warmed up.
        """
        recipe = self.recipe
        lr = recipe.lr * self.factor(epoch)
        first, last = recipe.warmup_momentum, recipe.momentum
        if recipe.optimizer == "adamw":
            first = last = ADAMW_BETAS[0]
        if iteration > self.warmup or self.warmup == 0:
            return lr, lr, last, self.accumulate
        share = iteration / self.warmup
        return (
            share * lr,
            recipe.warmup_bias_lr + share * (lr - recipe.warmup_bias_lr),
            first + share * (last - first),
            max(round(1 + share * (self.accumulate - 1)), 1),
        )


class EarlyStopping:
    """Tells when a run has stopped getting better.

    Parameters
    ----------
    patience : int
        Epochs without improvement after which the run stops; 0 lets it go on.
    state : dict, optional
        Of an earlier instance, to go on with.

    Attributes
    ----------
    state : dict
        ``"best_epoch"`` and ``"best_fitness"`` (None before there was any); JSON can say it.
    """

    def __init__(self, patience, state=None):
        if patience < 0:
            raise ValueError(f"patience must be at least 0, not {patience}")
        self.patience = patience
        self.state = {"best_epoch": 0, "best_fitness": None} if state is None else dict(state)

    def update(self, epoch, fitness):
        """Take note of an epoch's fitness, mAP@0.5:0.95; return whether to stop.

        Epochs that weren't validated count too, by the difference of the numbers; NaN is no
        improvement.
        """
        best = self.state["best_fitness"]
        if fitness > (-math.inf if best is None else best):
            self.state = {"best_epoch": epoch, "best_fitness": float(fitness)}
        return 0 < self.patience <= epoch - self.state["best_epoch"]


class MuSGD(SGD):
    """SGD with Nesterov's momentum, to which filters add an orthogonalized step.

    A parameter of two axes or more moves by ``lr * d + 0.2 * lr * o``, others by ``lr * d``.  Here
    d is SGD's direction with its decay, and o the orthogonalized one of `pytensor.optimizers.Muon`:
    five Newton-Schulz steps on Nesterov's moving average of the gradient, flattened to (out, rest).
    A depth-wise filter (C, 1, 3, 3) thus is a matrix (C, 9).

    Notes
    -----
    What had to be chosen where the recipe doesn't say: the moving average uses SGD's momentum, of
    the same step; it takes in the gradient after clipping, without the decay; o isn't scaled by the
    matrix' shape; and the products are float32 (on a GPU in JAX's default precision for them)
    instead of bfloat16.

    State: ``<name>.momentum_buffer`` for all parameters, ``<name>.gradient_average`` for filters.
    """

    def _update_parameters(self, params, grads, names, values):
        updates = super()._update_parameters(params, grads, names, values)
        filters, directions = [], []
        for param, grad, name in zip(params, grads, names, strict=True):
            if param.type.ndim >= 2:
                average = self._slot(param, name, "gradient_average")
                updates[average], direction = averaged_gradient(
                    average, grad, values[param]["momentum"]
                )
                filters.append(param)
                directions.append(direction)
        shapes = [param.get_value(borrow=True).shape for param in filters]
        directions = orthogonalize_all(directions, shapes)
        for param, direction in zip(filters, directions, strict=True):
            dtype = param.type.dtype
            rate = as_scalar(values[param]["learning_rate"], dtype) * as_scalar(MUON_SHARE, dtype)
            updates[param] = updates[param] - rate * direction
        return updates


def make_optimizer(name, lr, momentum):
    """Return the optimizer called "sgd", "adamw" or "musgd", without decay.

    Parameters
    ----------
    name : str
    lr, momentum : scalar variable
        AdamW has no momentum.
    """
    if name == "sgd":
        return SGD(lr, momentum=momentum, nesterov=True)
    if name == "musgd":
        return MuSGD(lr, momentum=momentum, nesterov=True)
    if name == "adamw":
        return AdamW(lr, betas=ADAMW_BETAS, weight_decay=0.0)
    raise ValueError(
        f"there is no optimizer {name!r}; give sgd, adamw or musgd, and resolve a recipe that says "
        "auto first"
    )


def parameter_groups(params, lr, bias_lr, weight_decay, class_factor=1.0):
    """Groups of an optimizer: filters, which alone decay, gammas, and biases.

    Parameters
    ----------
    params : sequence of shared variable
        Named as in the state dict.
    lr, bias_lr : scalar variable
        Rates of filters and gammas, and of all biases.
    weight_decay : float
    class_factor : float
        Multiplies the rate `lr` of the head's class branch.  Its biases reach the same rate at the
        end of the warm-up, from the same start as other biases.

    Returns
    -------
    list of dict
    """
    groups = []
    for of_class_branch in (False, True):
        chosen = [p for p in params if p.name.startswith(CLASS_BRANCH) == of_class_branch]
        factor = class_factor if of_class_branch else 1.0
        rate, bias_rate = lr, bias_lr
        if factor != 1.0:
            rate = lr * np.float32(factor)
            # While it warms up, bias_lr = (1 - s) * start + s * target and lr = s * target.
            bias_rate = bias_lr + lr * np.float32(factor - 1.0)
        biases = [p for p in chosen if p.name.endswith(".bias")]
        weights = [p for p in chosen if not p.name.endswith(".bias")]
        filters = [p for p in weights if p.type.ndim == 4]
        gammas = [p for p in weights if p.type.ndim != 4]
        groups += [
            {"params": filters, "learning_rate": rate, "weight_decay": weight_decay},
            {"params": gammas, "learning_rate": rate},
            {"params": biases, "learning_rate": bias_rate},
        ]
    return groups


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
    The data set is held by JAX: functions on it need ``mode="JAX"``.
    """

    def __init__(self, squares, image_size, batch_size):
        # What draws is needed here alone.
        import jax
        from device_augment import plan_variables, render_graph

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
    mode : str
        PyTensor's mode.
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
        mode="JAX",
        image_dtype="uint8",
        *,
        optimizer="sgd",
        images=None,
        place=None,
        put=None,
    ):
        self.model, self.mode, self.optimizer = model, mode, optimizer
        self.place, self.put = place, put
        self.fused = max_accumulate == 1
        if images is None:
            images = HostImages(image_size, batch_size, image_dtype)
        self.images = images
        boxes, classes, num_boxes = target_inputs(batch_size, max_boxes)
        inputs = [*images.variables, boxes, classes, num_boxes]
        targets = {"boxes": boxes, "classes": classes, "num_boxes": num_boxes}
        predictions = model(images.images, training=True)
        total, parts = yolo_loss(predictions, targets, model.num_classes)
        outputs = [parts[name] for name in LOSS_PARTS]
        gradients = pytensor.grad(total, model.params)

        lr, bias_lr, momentum, decay = (
            pt.scalar(name, dtype="float32") for name in ("lr", "bias_lr", "momentum", "ema_decay")
        )
        rates = (lr, bias_lr, momentum)
        numbers = [lr, bias_lr, decay] if optimizer == "adamw" else [*rates, decay]
        tracked = [*model.params, *model.store.statistics.values()]
        self.ema = ExponentialMovingAverage(tracked, decay)
        self.averages = {v.name: a for v, a in zip(tracked, self.ema.averages, strict=True)}
        self.state = dict(self.ema.state)
        statistics = dict(model.updates)
        if self.fused:
            updates, norm = self._apply_updates(gradients, *rates, weight_decay)
            updates = merge_updates(updates, statistics)
            updates = merge_updates(updates, self.ema.get_updates(updates))
            self._step = self._compile([*inputs, *numbers], [*outputs, norm], updates)
        else:
            sums = GradientAccumulator(model.params)
            self.state |= sums.state
            added = merge_updates(sums.add_updates(gradients), statistics)
            self._add = self._compile(inputs, outputs, added)
            updates, norm = self._apply_updates(sums.gradients, *rates, weight_decay)
            updates = merge_updates(updates, self.ema.get_updates(updates))
            updates = merge_updates(updates, sums.reset_updates())
            self._apply = self._compile(numbers, [norm], updates)
        self.variables = [*model.store.all.values(), *self.state.values(), *images.shared]
        self.place_variables()

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
        return pytensor.function(inputs, outputs, updates=updates, mode=self.mode, trust_input=True)

    def arguments(self, batch):
        """Return a batch's arrays in the order in which the step takes them."""
        arrays = [*self.images.arguments(batch), batch.boxes, batch.classes, batch.num_boxes]
        return arrays if self.put is None else self.put(arrays)

    def transfer(self, batch):
        """Start to bring a batch to the device, for `run`; see `prefetch`.

        The batch's arrays must not be written to before the step that uses them has ended.
        """
        arrays = self.arguments(batch)
        if self.put is None:
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
            *parts, norm = self._step(*data, *self._numbers(rates, steps_done, recipe))
            return parts, norm
        parts = self._add(*data)
        return parts, self.apply(rates, steps_done, recipe) if step_now else None

    def apply(self, rates, steps_done, recipe):
        """Step with the gradients accumulated so far; their norm before clipping."""
        return self._apply(*self._numbers(rates, steps_done, recipe))[0]

    def _numbers(self, rates, steps_done, recipe):
        decay = recipe.ema_decay * (1 - math.exp(-(steps_done + 1) / recipe.ema_steps))
        if self.optimizer == "adamw":
            rates = rates[:2]
        return [np.asarray(v, dtype=np.float32) for v in (*rates, decay)]


def prefetch(batches, put):
    """Yield ``put(batch)`` for each batch, with the next one made while the caller works.

    Parameters
    ----------
    batches : iterable
        Asked for its items in a thread, one after the other.
    put : callable
        `TrainStep.transfer`, for batches that are on the device before their step begins.

    Notes
    -----
    Errors of both are raised where their batch is asked for.  One batch at most is taken from
    `batches` that isn't yielded.
    """
    batches, end = iter(batches), object()

    def fetch():
        batch = next(batches, end)
        return end if batch is end else put(batch)

    with ThreadPoolExecutor(1, thread_name_prefix="prefetch") as thread:
        ahead = thread.submit(fetch)
        while (batch := ahead.result()) is not end:
            ahead = thread.submit(fetch)
            yield batch


class IdleClock:
    """Measures how long the device had nothing to do, where steps are dispatched asynchronously.

    It is idle from the moment when all outputs of a step are ready until the next step is
    dispatched: its host was waiting for a batch, or busy otherwise.  A thread waits for the outputs
    and takes the time.

    ::

        with IdleClock() as clock:
            for batch in prefetch(batches, step.transfer):
                clock.stop()
                outputs = step.run(batch, ...)
                clock.watch(outputs)
        share = clock.idle_s / epoch_s

    Attributes
    ----------
    idle_s : float
        Seconds so far.
    """

    def __init__(self):
        self.idle_s = 0.0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="idle-clock")
        self._ready = None

    @staticmethod
    def _time_when_ready(outputs):
        import jax

        jax.block_until_ready(outputs)
        return time.perf_counter()

    def watch(self, outputs):
        """A step was dispatched: take note of when its outputs are ready.

        Parameters
        ----------
        outputs : structure of arrays, with None for what isn't there
        """
        self._ready = self._thread.submit(self._time_when_ready, outputs)

    def stop(self):
        """The next step is about to be dispatched: add the time since the outputs were ready.

        Raises what the watched step raised.
        """
        now = time.perf_counter()
        # If it isn't done, the device is still at work and hasn't been idle.
        if self._ready is not None and self._ready.done():
            self.idle_s += max(now - self._ready.result(), 0.0)
        self._ready = None

    @contextmanager
    def waiting(self, outputs):
        """Add the time for which the block goes on after `outputs` are ready, or from its start.

        For loops in which getting the next batch is all that keeps the device waiting; `watch` and
        `stop` miss nothing.  `outputs` may be None: there was no step before.
        """
        if outputs is not None:
            self.watch(outputs)
        yield
        self.stop()

    def close(self):
        """End the thread, after the step that it waits for."""
        self._thread.shutdown()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


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
    """
    images = image_input(image_size, batch_size)
    decoded = model.decode(model(to_float(images)))
    givens = []
    if averages is not None:
        variables = model.store.trainable | model.store.statistics
        givens = [(variables[name], average) for name, average in averages.items()]
    return pytensor.function([images], decoded, givens=givens, mode=mode, trust_input=True)


def detect(detector, dataset, batch_size, confidence=0.001, iou=0.7, max_detections=300):
    """Run a compiled detector over a dataset.

    Returns
    -------
    dict of int to float array (n, 6)
        By image id: x1, y1, x2, y2 in pixels of the original picture, score, class index.
    """
    pictures = {p["id"]: (p["width"], p["height"]) for p in dataset.ground_truth()["images"]}
    found = {}
    for batch in val_batches(dataset, batch_size):
        decoded = np.asarray(detector(batch.images))
        for predictions, image_id, geometry in zip(
            decoded, batch.image_ids, batch.geometries, strict=False
        ):
            kept = nms(predictions, confidence, iou, max_detections, multi_label=True)
            found[image_id] = scale_detections(kept, geometry, pictures[image_id])
    return found


def with_averages(model, averages):
    """Return a copy of the model that holds the averaged weights."""
    copy = YOLO11n(model.num_classes, class_width=model.class_width)
    state = model.state_dict()
    state |= {name: np.asarray(v.get_value(borrow=True)) for name, v in averages.items()}
    copy.load_state_dict(state)
    return copy
