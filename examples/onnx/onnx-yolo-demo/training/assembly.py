"""What a training run is made of, as its options say."""

from data.augment import Augment
from data.loader import BatchLoader
from model import YOLO11n
from training.checkpoint import load_weights
from training.parts import DeviceImages, TrainStep, training_mode
from training.weights import load_pretrained


def make_loader(options, train_set, devices, render):
    """Batches of the training set, or this process's part of each.

    Parameters
    ----------
    options : argparse.Namespace
        Of `options.parse_arguments`.
    train_set : Dataset
    devices : Devices
    render : bool
        Whether the loader draws the images; else they are drawn on the device.
    """
    o = options
    return BatchLoader(
        train_set,
        o.batch_size,
        seed=o.seed,
        augment=Augment(mosaic=o.mosaic, scale=o.scale),
        workers=o.workers,
        mosaic_until=max(o.epochs - o.close_mosaic, 0),
        render=render,
        part=devices.part,
    )


def make_model(options, last):
    """The model as the options say, before any checkpoint is loaded.

    Parameters
    ----------
    options : argparse.Namespace
    last : Path
        The checkpoint, if the run is resumed.
    """
    o = options
    if o.resume:  # the width of a branch is that of the weights it began with, if there were any
        _, info = load_weights(last)
        return YOLO11n(len(o.classes), seed=o.seed, class_width=info.get("class_width"))
    if o.weights is None:
        return YOLO11n(len(o.classes), seed=o.seed)
    model, report = load_pretrained(o.weights, o.classes, seed=o.seed)
    print(report["text"])
    return model


def make_step(options, model, loader, rates, devices, draw):
    """The compiled training step.

    Parameters
    ----------
    options : argparse.Namespace
    model : YOLO11n
    loader : BatchLoader
    rates : StepSettings
    devices : Devices
    draw : bool
        Whether the images are drawn on the device, by the loader's plans.
    """
    o = options
    images = None
    if draw:
        images = DeviceImages(loader.dataset.squares, o.image_size, o.batch_size)
    return TrainStep(
        model,
        o.image_size,
        o.batch_size,
        loader.max_boxes,
        rates.weight_decay,
        rates.accumulate,
        # A profile needs the rewritten graph, and a program that is compiled with its names.
        mode=training_mode(o.mode, o.precision, keep_programs=o.profile is None),
        optimizer=rates.recipe.optimizer,
        images=images,
        place=devices.replicate,
        put=devices.shard if devices.count > 1 else None,
    )
