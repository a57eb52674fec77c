"""Validation of a training run, and the files that it leaves at its end."""

import contextlib
import os
import shlex
import sys
from pathlib import Path

import jax
from data.loader import val_batches
from evaluation.report import draw_validation
from export import export_detector, verify_export
from tools.build_demo import BuildError, build, how_to_open, runtime_problem
from training.batch_statistics import chosen_batches, measure_statistics
from training.checkpoint import load_weights, write_atomically
from training.parts import detect, with_averages
from training.run_folder import TrainingError, to_json
from utils import coco_map


class Validator:
    """Runs the averaged weights on the validation set, on the devices of all processes.

    Parameters
    ----------
    detector : function of `training.compile_detector`
    dataset : Dataset
    batch_size : int
    devices : Devices
    check : callable
        Called before each batch; may raise.
    """

    def __init__(self, detector, dataset, batch_size, devices, check):
        self.detector, self.dataset, self.batch_size = detector, dataset, batch_size
        self.devices, self.check = devices, check

    def score(self):
        """Return (what `coco_map` says, the detections), the same in every process.

        Each process suppresses the boxes of its own rows of a batch alone.
        """

        def own_rows(images):
            self.check()
            return self.devices.local_rows(self.detector(*self.devices.shard([images])))

        rows = self.devices.rows(self.batch_size)
        found = detect(own_rows, self.dataset, self.batch_size, rows=rows)
        detections = self.devices.merge(found)
        return coco_map(self.dataset, detections), detections

    def predict(self, images):
        """Predictions for a whole batch in every process, computed in full float32.

        All processes have to call it.
        """
        rows = self.devices.rows(len(images))
        with full_precision():
            return self.devices.fetch(self.detector(*self.devices.shard([images[rows]])))


def full_precision():
    """Context in which JAX multiplies float32 as such.

    GPUs and TPUs round the factors to fewer bits by default, which training and validation can
    bear; a comparison with another program can't.  CPUs never do, and need no second compilation.
    """
    if jax.default_backend() == "cpu":
        return contextlib.nullcontext()
    return jax.default_matmul_precision("highest")


def finish(run):
    """Write metrics, pictures and the ONNX model of the best weights; build its page if asked to.

    Parameters
    ----------
    run : Run
        Whose epochs are done.  The averages on its devices are the best ones after this.

    Raises
    ------
    TrainingError
        If the precision is below ``--require-map50``, or the browser page can't be built.
    """
    o, rows = run.options, run.progress.rows
    refresh = statistics_of(run)
    refresh()
    # There are no detections if the run was complete when it was resumed.
    last, detections = run.scored or run.validator.score()
    best_epoch = load_best(run)
    best = last
    if best_epoch != run.progress.epoch:
        refresh()
        best, detections = run.validator.score()
    if o.statistics_images:
        run.save_best(best_epoch, best["map50_95"])
        run.outbox.require()
    metrics = best | {
        "best_epoch": best_epoch,
        "last": last,
        "epochs": run.progress.epoch,
        "train_seconds": sum(row["seconds"] for row in rows),
        "classes": o.classes,
    }
    if run.devices.is_main:
        draw_validation(run.output / "val_detections.png", run.val_set, detections, o.classes)
    if not o.no_export:
        metrics["onnx"] = export(run)
    if run.devices.is_main:
        write_atomically(run.output / "metrics.json", to_json(metrics))
    print(
        f"best weights (epoch {best_epoch}): mAP@0.5 {best['map50']:.4f}, "
        f"mAP@0.5:0.95 {best['map50_95']:.4f} on {len(run.val_set)} held-out images"
    )
    if o.require_map50 is not None and not best["map50"] >= o.require_map50:
        raise TrainingError(
            f"mAP@0.5 is {best['map50']:.4f}, below the {o.require_map50} asked for"
        )
    if o.build_page and run.devices.is_main:
        build_page(o)


def page_problem(options):
    """Why the browser page can't be built at the end of a run, or None."""
    return "--no-export leaves it no model" if options.no_export else runtime_problem()


def build_page(options):
    """Build the browser page of the exported model, and say where it is.

    Raises
    ------
    TrainingError
        If it can't be built for a reason that wasn't known before the training.
    """
    if problem := page_problem(options):
        print(f"no browser page was built: {problem}")
        if not options.no_export:
            model = str(options.export_onnx.absolute())
            build_page = [sys.executable, "-m", "tools.build_demo", model]
            demo = shlex.quote(str(Path(__file__).parents[1]))
            print(f"the model is kept; when that is done: cd {demo} && {shlex.join(build_page)}")
        return
    try:
        report = build(options.export_onnx)
    except BuildError as error:
        raise TrainingError(
            f"the browser page could not be built: {error}; the model is {options.export_onnx}"
        ) from error
    for warning in report["warnings"]:
        print(f"warning: {warning}")
    print(*how_to_open(report), sep="\n")


def statistics_of(run):
    """Return what measures the statistics of the averages that are on the devices, if asked for."""
    o = run.options
    if not o.statistics_images:
        return lambda: None
    measure = measure_statistics(run.model, run.train_step, run.devices)

    def refresh():
        run.scored = None
        with contextlib.closing(
            chosen_batches(run.loader, o.epochs, o.statistics_images)
        ) as batches:
            measure(run.checked(batches))

    return refresh


def load_best(run):
    """Put the best weights in the averages' place, if they are others; the epoch they are of."""
    # The main process has written them by then, and the others can read them.
    arrays, info = run.devices.main_first(lambda: load_weights(run.best))
    if info["epoch"] == run.progress.epoch:
        return info["epoch"]
    for name, average in run.train_step.averages.items():
        average.set_value(arrays[name])
    run.train_step.place_variables()
    return info["epoch"]


def export(run):
    """Write the ONNX model of the averages; the report of its verification."""
    o, validator = run.options, run.validator
    # On the devices of all processes, so before the first one goes on alone.
    expected = validator.predict(next(val_batches(run.val_set, o.batch_size)).images)
    if not run.devices.is_main:
        return None
    averaged = with_averages(run.model, run.train_step.averages)
    # Only a whole and verified file gets the name.
    partial = o.export_onnx.with_name(f".{o.export_onnx.name}.partial")
    try:
        batch = None if o.dynamic_batch else 1
        export_detector(averaged, partial, o.classes, o.image_size, batch)
        report = verify_export(partial, averaged, lambda _: expected, run.val_set, o.batch_size)
        os.replace(partial, o.export_onnx)
    finally:
        partial.unlink(missing_ok=True)
    print(
        f"exported {o.export_onnx}: {report['nodes']} nodes, boxes within "
        f"{report['box_difference']:.2g} px and scores within "
        f"{report['score_difference']:.2g} of PyTensor's"
    )
    if "score_error" in report:
        print(
            "  these weights enlarge rounding errors, as after little training: float32 alone "
            f"loses {report['box_error']:.2g} px and {report['score_error']:.2g} in scores"
        )
    return report
