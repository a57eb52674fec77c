"""One training step of YOLO11n as compiled functions, its schedule, and validation.

Everything that a step changes (weights, momentum, averages, running statistics) is a shared
variable that stays on the device; what a step reads from the host is a batch and three numbers.
"""

import math
from dataclasses import dataclass

import numpy as np
from loader import val_batches
from loss import yolo_loss
from model import YOLO11n
from utils import nms, scale_detections

import pytensor
import pytensor.tensor as pt
from pytensor.optimizers import (
    SGD,
    ExponentialMovingAverage,
    GradientAccumulator,
    clip_by_global_norm,
    merge_updates,
    schedules,
)

MAX_GRADIENT_NORM = 10.0
LOSS_PARTS = ("box_loss", "cls_loss", "dfl_loss")


@dataclass(frozen=True)
class Recipe:
    """Numbers of the training recipe.

    Attributes
    ----------
    lr, final_lr : float
        Learning rate of the first epoch, and the last one's as a fraction of it.
    schedule : "cosine" or "linear"
        How the rate goes from the one to the other, epoch by epoch.
    momentum, weight_decay : float
        Of Nesterov's SGD.  Only convolution filters decay.
    warmup_epochs : float
        Over so many epochs the rate rises from 0 (that of biases falls from `warmup_bias_lr`), the
        momentum rises from `warmup_momentum`, and the batches per step from 1.
    nominal_batch : int
        Gradients are summed over about as many images before each step.
    ema_decay, ema_steps : float
        After k steps the average's decay is ``ema_decay * (1 - exp(-k / ema_steps))``.
    """

    lr: float = 0.01
    final_lr: float = 0.01
    schedule: str = "cosine"
    momentum: float = 0.937
    weight_decay: float = 5e-4
    warmup_epochs: float = 5.0
    warmup_bias_lr: float = 0.1
    warmup_momentum: float = 0.8
    nominal_batch: int = 64
    ema_decay: float = 0.9999
    ema_steps: float = 2000.0

    def batches_per_step(self, batch_size):
        """Batches whose gradients make one step, after the warm-up."""
        return max(round(self.nominal_batch / batch_size), 1)


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
        shape = {"cosine": schedules.cosine, "linear": schedules.linear}[recipe.schedule]
        self.factor = shape(epochs, recipe.final_lr)
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
        """
        recipe = self.recipe
        lr = recipe.lr * self.factor(epoch)
        if iteration > self.warmup or self.warmup == 0:
            return lr, lr, recipe.momentum, self.accumulate
        share = iteration / self.warmup
        return (
            share * lr,
            recipe.warmup_bias_lr + share * (lr - recipe.warmup_bias_lr),
            recipe.warmup_momentum + share * (recipe.momentum - recipe.warmup_momentum),
            max(round(1 + share * (self.accumulate - 1)), 1),
        )


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
        RGB in 0..255 or in 0..1.

    Attributes
    ----------
    state : dict of str to shared variable
        All that must be saved beside the model's own variables, by name.
    averages : dict of str to shared variable
        Of parameters and running statistics, by their names.
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
    ):
        self.model, self.mode = model, mode
        self.fused = max_accumulate == 1
        inputs = batch_inputs(image_size, batch_size, max_boxes, image_dtype)
        images, boxes, classes, num_boxes = inputs
        targets = {"boxes": boxes, "classes": classes, "num_boxes": num_boxes}
        predictions = model(to_float(images), training=True)
        total, parts = yolo_loss(predictions, targets, model.num_classes)
        outputs = [parts[name] for name in LOSS_PARTS]
        gradients = pytensor.grad(total, model.params)

        scalars = [pt.scalar(name, dtype="float32") for name in ("lr", "bias_lr", "momentum")]
        decay = pt.scalar("ema_decay", dtype="float32")
        tracked = [*model.params, *model.store.statistics.values()]
        self.ema = ExponentialMovingAverage(tracked, decay)
        self.averages = {v.name: a for v, a in zip(tracked, self.ema.averages, strict=True)}
        self.state = dict(self.ema.state)
        if self.fused:
            updates, norm = self._apply_updates(gradients, *scalars, weight_decay)
            updates = merge_updates(updates, dict(model.updates))
            updates = merge_updates(updates, self.ema.get_updates(updates))
            self._step = self._compile([*inputs, *scalars, decay], [*outputs, norm], updates)
        else:
            sums = GradientAccumulator(model.params)
            self.state |= sums.state
            self._add = self._compile(
                inputs, outputs, merge_updates(sums.add_updates(gradients), dict(model.updates))
            )
            updates, norm = self._apply_updates(sums.gradients, *scalars, weight_decay)
            updates = merge_updates(updates, self.ema.get_updates(updates))
            self._apply = self._compile(
                [*scalars, decay], [norm], merge_updates(updates, sums.reset_updates())
            )

    def _apply_updates(self, gradients, lr, bias_lr, momentum, weight_decay):
        clipped, norm = clip_by_global_norm(gradients, MAX_GRADIENT_NORM)
        optimizer = SGD(lr, momentum=momentum, nesterov=True)
        params = self.model.params
        groups = [
            {"params": [p for p in params if p.type.ndim == 4], "weight_decay": weight_decay},
            {"params": [p for p in params if p.name.endswith(".bias")], "learning_rate": bias_lr},
        ]
        updates = optimizer.get_updates(params, clipped, groups=groups)
        self.state |= optimizer.state
        return updates, norm

    def _compile(self, inputs, outputs, updates):
        return pytensor.function(inputs, outputs, updates=updates, mode=self.mode, trust_input=True)

    def run(self, batch, rates, step_now, steps_done, recipe):
        """Run one batch, and a step of the optimizer if `step_now`.

        Returns the three loss parts and the gradient's norm before clipping (None without a
        step), as they come from the backend: not waited for.
        """
        data = [batch.images, batch.boxes, batch.classes, batch.num_boxes]
        if self.fused:
            *parts, norm = self._step(*data, *self._scalars(rates, steps_done, recipe))
            return parts, norm
        parts = self._add(*data)
        return parts, self.apply(rates, steps_done, recipe) if step_now else None

    def apply(self, rates, steps_done, recipe):
        """Step with the gradients accumulated so far; their norm before clipping."""
        return self._apply(*self._scalars(rates, steps_done, recipe))[0]

    @staticmethod
    def _scalars(rates, steps_done, recipe):
        decay = recipe.ema_decay * (1 - math.exp(-(steps_done + 1) / recipe.ema_steps))
        return [np.asarray(v, dtype=np.float32) for v in (*rates, decay)]


def batch_inputs(image_size, batch_size, max_boxes, image_dtype="uint8"):
    """Input variables of a training step: images and padded targets, all shapes static."""
    return [
        pt.tensor("images", dtype=image_dtype, shape=(batch_size, 3, image_size, image_size)),
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
    images = pt.tensor("images", dtype="uint8", shape=(batch_size, 3, image_size, image_size))
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
