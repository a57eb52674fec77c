"""Train YOLO11n to detect persons and cell phones, and export it to ONNX.

    python train_yolo11n.py --preset cpu                  # drawn images, minutes on two cores
    python train_yolo11n.py --preset gpu                  # COCO 2017, on a GPU
    python train_yolo11n.py --data PATH                   # own pictures (see `finding.find`)

The output folder receives ``last.safetensors`` (to resume from), ``best.safetensors`` (the averaged
weights of the best epoch by mAP@0.5:0.95), ``results.csv``, ``results.png``, and, of the best
weights, ``metrics.json``, ``val_detections.png`` and the ONNX model; and what `run_folder`
describes.

Ctrl-C and SIGTERM end a run with a checkpoint of the running step; a killed run goes on from the
last checkpoint with the same results.

Several processes, perhaps on several machines, train as one does on as many devices; each is
started with the same options, and process 0 alone writes files:

    srun python train_yolo11n.py …
    python train_yolo11n.py … --coordinator HOST:PORT --processes 2 --process 0    # and 1
"""

import contextlib
import functools
import hashlib
import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict

# Before PyTensor is imported: JAX keeps 64-bit types off then, which float32 training never uses.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

from training.options import check_paths, make_recipe, parse_arguments, resumed_settings

if __name__ == "__main__":  # a mistake is answered before the imports below, which take seconds
    check_paths(parse_arguments((__doc__ or "").partition("\n")[0], sys.argv[1:]))

import jax
import numpy as np
from data.augment import Augment, PasteOn
from data.listing import DataError
from data.loader import BatchLoader
from dataset import Dataset, open_data
from evaluation.report import draw_labels
from export import ExportMismatch
from model import YOLO11n
from training import callbacks
from training.checkpoint import (
    CheckpointError,
    Progress,
    check_settings,
    load_checkpoint,
    load_weights,
)
from training.finishing import LocalWeights, Validator, check_first, finish, with_averages
from training.hard import FILE as HARD
from training.hard import find_hard, read_weights
from training.loggers import LogError
from training.preset import choose
from training.recipe import Recipe, StepSettings, resolve
from training.run_folder import RunFolder, Stopped, TrainingError
from training.train_step import (
    DeviceImages,
    TrainStep,
    compile_detector,
    draws_on_device,
    training_mode,
)
from training.weights import kept_classes, model_info, starting_model

from pytensor.link.jax.mode.host_memory import keep_freed_memory
from pytensor.link.jax.mode.store.compilation_cache import use_cache
from pytensor.link.jax.parallel.devices import Devices, ParallelError, find_devices
from pytensor.link.jax.parallel.prefetch import prefetch
from pytensor.link.jax.parallel.processes import ProcessGroup, join

# Of the user's making, or the machine's (a full disk is an OSError): the message is all that helps.
KNOWN_ERRORS = (
    TrainingError, CheckpointError, DataError, ExportMismatch, LogError, ParallelError, OSError,
)  # fmt: skip


def open_devices(o: Namespace) -> Devices:
    """Return the devices that share a batch; TrainingError if one is wanted and JAX finds none."""
    if find_devices()[0].platform == "cpu" and o.preset == "gpu":
        raise TrainingError(
            "--preset gpu: JAX finds no GPU. Run 'bash setup.sh --gpu', or train on the CPU with "
            "'bash train.sh --cpu'"
        )
    several = jax.process_count() > 1
    if several and o.profile:
        raise TrainingError("--profile is for one process")
    devices = Devices(None if several and o.devices == 1 else o.devices)
    devices.check_batch_size(o.batch_size)
    if devices.count < (there := jax.device_count()):
        print(f"{devices.count} of {there} devices are used; --devices {there} uses all")
    return devices


def make_loader(
    o: Namespace, train_set: Dataset, devices: Devices, hard: str | None
) -> BatchLoader:
    """Return this process's rows of the batches, drawn on the host or planned for the device."""
    paste_on = None
    if o.paste_on:
        *names, chance = o.paste_on
        if unknown := [name for name in names if name not in o.classes]:
            raise DataError(
                f"--paste-on: {unknown[0]} is none of the classes {', '.join(o.classes)}"
            )
        below, above = map(o.classes.index, names)
        paste_on = PasteOn(below, above, chance, train_set.held_things(below, above))
    if o.batch_size > (count := len(train_set)):
        print(
            f"warning: --batch-size {o.batch_size} is more than the {count} training images: each "
            "step repeats some of them; a smaller batch makes more steps"
        )
    augment = Augment(mosaic=o.mosaic, scale=o.scale, copy_paste=o.copy_paste, paste_on=paste_on)
    rows = train_set.max_boxes(o.mosaic > 0, augment.pasted, augment.held)
    if o.max_boxes is not None:  # and what is pasted comes on top
        rows = min(rows, o.max_boxes + rows - train_set.max_boxes(o.mosaic > 0))
    loader = BatchLoader(
        train_set, o.batch_size, max_boxes=rows, seed=o.seed, augment=augment, workers=o.workers,
        mosaic_until=max(o.epochs - o.close_mosaic, 0),
        render=not draws_on_device(o.device_augment, train_set.squares),
        rows=devices.rows(o.batch_size),
        background_share=o.background_share, hard_share=o.hard_share,
        weights=None if hard is None else read_weights(hard, train_set),
    )  # fmt: skip
    if note := loader.crowded_note():
        print(note)
    return loader


def make_step(
    o: Namespace, model: YOLO11n, loader: BatchLoader, rates: StepSettings, devices: Devices,
    kept: Sequence[str] = (),
) -> TrainStep:  # fmt: skip
    """Compile the training step of a model for a loader's batches; `kept` classes are old ones."""
    images, data = None, loader.dataset
    before = None
    if o.keep_classes and data.labelled is not None:  # a checkpoint has its weights, too
        before = with_averages(model, {})
    if not loader.render:
        rows = o.batch_size // devices.count
        images = DeviceImages(data.squares, o.image_size, rows, loader.pasted)
    return TrainStep(
        model, o.image_size, o.batch_size, loader.max_boxes, rates.weight_decay, rates.accumulate,
        # A profile needs the rewritten graph, and a program that is compiled with its names.
        mode=training_mode(
            o.mode, o.precision, o.profile is None, devices.mesh, o.sync_batchnorm
        ),
        optimizer=rates.recipe.optimizer, images=images,
        layers=None if data.labelled is None else loader.layers, regions=loader.max_regions,
        devices=devices.count, place=devices.replicate,
        put=devices.shard if devices.count > 1 else None, before=before,
        new=[row for row, name in enumerate(o.classes) if name not in kept],
    )  # fmt: skip


def make_validator(
    o: Namespace, step: TrainStep, val_set: Dataset, devices: Devices,
    checkpoints: callbacks.Checkpoints,
) -> Validator:  # fmt: skip
    """Compile the detector of the averaged weights; each of several processes has copies."""
    weights, averages = None, step.averages
    if devices.processes > 1:
        weights = LocalWeights(averages, devices.local())
        averages = weights.variables
    rows = o.batch_size // devices.processes
    detector = compile_detector(step.model, o.image_size, rows, averages, o.mode)
    return Validator(detector, val_set, rows, devices, checkpoints, weights)


def run_settings(o: Namespace, recipe: Recipe, loader: BatchLoader, hard: str | None) -> dict:
    """Return what decides about a run's results, by name: a resumed run must share it."""
    data = loader.dataset
    settings = resumed_settings(o) | asdict(recipe)
    settings |= {"images": len(data), "max_boxes": loader.max_boxes, "labels": data.digest()}
    if loader.max_regions:
        settings["max_regions"] = loader.max_regions
    if data.parts:
        settings["parts"] = [list(part[1:]) for part in data.parts]
    if hard is not None:
        settings["hard.csv"] = hashlib.sha256(hard.encode()).hexdigest()[:16]
    return settings


def check_same(group: ProcessGroup, settings: dict, loader: BatchLoader, step: TrainStep) -> None:
    """Raise a ParallelError if a process has other settings, pictures or values than process 0."""
    names = [loader.dataset.file_name(k) for k in range(len(loader.dataset))]
    group.check_same("options or data", lambda: [settings, loader.render, names])
    digest = hashlib.sha256()
    for variable in [*step.model.named_variables().values(), *step.state.values()]:
        digest.update(np.asarray(variable.get_value(borrow=True)).tobytes())
    group.check_same("weights", digest.hexdigest)


def train(o: Namespace, folder: RunFolder, group: ProcessGroup | None = None) -> None:
    """Train the model that the options `o` describe, with the `group`'s other processes if any."""
    # ---- devices, data and model
    check_first(o)
    if o.resume and not o.auto:  # before pictures are drawn for other options
        saved, given = load_weights(folder.last)[1].get("settings", {}), resumed_settings(o)
        check_settings(folder.last, saved, given, saved.keys() & given.keys())
    devices = open_devices(o)
    # A profile reads names that a program from the disk would bear from earlier on.
    use_cache(o.compilation_cache, with_names=o.profile is not None)
    kept, size = kept_classes(o, folder.last)
    chosen = functools.partial(choose, least_size=size) if o.auto else None
    train_set, val_set = open_data(o, group is not None, chosen, kept)
    devices.check_batch_size(o.batch_size)
    model, trained_on = starting_model(o, folder.last, train_set)
    hard = find_hard(o, folder, model, train_set, devices)
    loader = make_loader(o, train_set, devices, hard)

    # ---- compiled step
    recipe = resolve(make_recipe(o), len(train_set), o.batch_size, o.epochs, len(o.classes))
    rates = StepSettings(recipe, o.epochs, len(loader), o.batch_size)
    print("compiling the training step: about a minute, less if it was compiled here before")
    step = make_step(o, model, loader, rates, devices, kept)

    # ---- where the run stands, and what hangs on the loop
    settings = run_settings(o, recipe, loader, hard)
    p = Progress()
    if o.resume:
        p = Progress(**load_checkpoint(folder.last, model, step.state, settings)["progress"])
        step.place_variables()
    if group is not None:
        check_same(group, settings, loader, step)
    info = model_info(model, o.classes, o.image_size, trained_on, kept)
    run = callbacks.Run(
        options=o, folder=folder, loader=loader, rates=rates, step=step, settings=settings,
        info=info, progress=p, devices=devices,
    )  # fmt: skip
    folder.begin(p, asdict(recipe))
    if o.own_data and folder.first and not o.resume:
        draw_labels(folder.path / "labels.png", train_set)
        print(f"labels as they are read: {folder.path / 'labels.png'}")
    if hard is not None:
        folder.write(HARD, hard.encode())
    if group is not None:  # all will read the best weights there
        group.check_same("--output-dir", folder.seen)
    if p.iteration:
        print(f"resumed after {run.where()} of {o.epochs} epochs")
    until = min(o.epochs, o.stop_after or o.epochs)
    meter = callbacks.Meter(run)
    checkpoints = callbacks.Checkpoints(run, meter, until)
    validator = make_validator(o, step, val_set, devices, checkpoints)
    hooks = [meter, callbacks.Remaining(run), callbacks.Results(run), checkpoints]
    if o.log:
        hooks.append(callbacks.Log(run))
    if o.profile:
        hooks.insert(0, callbacks.Profile(run))

    with contextlib.ExitStack() as stack:
        stack.callback(loader.close)
        for hook in hooks:
            stack.callback(hook.close)

        # ---- the loop
        while p.epoch < until and not run.exhausted():
            for hook in hooks:
                hook.before_epoch()
            with (
                contextlib.closing(loader.epoch(p.epoch, p.batch)) as source,
                contextlib.closing(prefetch(source, step.transfer)) as batches,
            ):
                for batch in batches:
                    now, batches_per_step = rates.at(p.iteration, p.steps)
                    step_now = p.iteration - p.last_step >= batches_per_step
                    for hook in hooks:
                        hook.before_step()
                    losses, norm = step.run(batch, now, step_now)
                    p.next_batch(step_now)
                    for hook in hooks:
                        hook.after_step(losses, norm, now.lr)
            row = meter.row()
            if row["epoch"] % o.val_every == 0 or row["epoch"] == o.epochs:
                row |= validator.columns(row["epoch"])
            p.next_epoch(row)
            for hook in hooks:
                hook.after_epoch(row)

        # ---- metrics, pictures, the ONNX model, its page
        folder.require()
        if p.epoch < o.epochs and not run.exhausted():
            raise Stopped(run.where())
        if p.epoch < o.epochs:
            print(f"no better mAP@0.5:0.95 for {o.patience} epochs: training ends here")
        checkpoints.signals.rest()
        finish(run, validator)


def main(arguments: list[str] | None = None) -> int:
    """Train as the command line says; return the exit code, after a signal 128 + its number.

    Errors of the user, and of disks, end with one line; what else may be raised is
    a bug, and shows its traceback.  An error in one of several processes ends the others, too.
    """
    arguments = [*map(str, sys.argv[1:] if arguments is None else arguments)]
    options = parse_arguments((__doc__ or "").partition("\n")[0], arguments)
    try:
        group = join(options.coordinator, options.processes, options.process)
    except ParallelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    try:
        code, problem = run(options, group)
    except Exception:
        if group is None:
            raise
        group.fail(traceback.format_exc())
    if group is not None:
        if problem:
            group.fail(problem)
        group.leave()
    if problem:
        print(problem, file=sys.stderr)
    return code


def run(options: Namespace, group: ProcessGroup | None) -> tuple[int, str]:
    """Train as one process, or as one of several; return the exit code and what went wrong."""
    try:
        first = group is None or group.number == 0
        with RunFolder(options, KNOWN_ERRORS, first) as folder:
            if group is not None:
                group.on_loss = folder.lose
            train(options, folder, group)
    except Stopped as stop:
        return stop.exit_code, ""
    except KNOWN_ERRORS as error:
        return 1, f"error: {' '.join(str(error).split())}"
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        reason = str(error).splitlines()[0]
        return 1, (
            f"error: the device's memory is full ({reason}); try a smaller --batch-size or "
            "--image-size, or --device-augment off"
        )
    return 0, ""


if __name__ == "__main__":
    callbacks.Signals()  # Ctrl-C ends the process at once, until there is something to lose
    # Else the kernel clears a step's temporary memory every time.
    keep_freed_memory()
    sys.exit(main())
