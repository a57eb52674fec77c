"""Validation of the averaged weights, and the files that a training run leaves at its end."""

import contextlib
import functools
import itertools
import json
import math
import os

import jax
import numpy as np
from blocks import BN_MOMENTUM
from data.loader import val_batches
from evaluation.curves import write_curves
from evaluation.detectors import OnnxDetector, as_drawn, detect
from evaluation.metrics import coco_map, limit_note, to_json, without_nan
from evaluation.report import draw_validation
from evaluation.verdict import NOTHING, verdict
from export import export_detector, verify_export
from model import YOLO11n
from tools.build_demo import BuildError, build, how_to_open, no_samples, runtime_problem
from tools.mistakes import draw_mistakes
from tools.quantize import PICTURES, quantize_detector
from tools.samples import data_assets
from training.checkpoint import load_weights, write_atomically
from training.loggers import require
from training.run_folder import TrainingError
from training.train_step import over_devices
from training.weights import read_arrays
from utils import NotFiniteError

import pytensor
from pytensor import layers
from pytensor.optimizers import AveragedStatistics

COMPARED = 8  # images on which the exported model is compared with PyTensor
MAX_INT8_LOSS = 0.02  # of mAP@0.5, for the page to compute in 8-bit integers


def check_first(options):
    """Find out before hours are spent what would go wrong at the end."""
    o = options
    require(o.log)
    if o.weights is not None and not o.resume:
        read_arrays(o.weights)
    if not o.no_export:
        o.export_onnx.parent.mkdir(parents=True, exist_ok=True)
    builds_page(o)


def builds_page(options):
    """Return whether the run ends with a page; warn where one is wanted and can't be built."""
    o = options
    wanted = o.build_page and not o.no_export
    if wanted and (problem := runtime_problem()):
        print(
            f"warning: no browser page will be built at the end: {problem}; later, "
            f"python -m tools.build_demo {o.export_onnx} builds it"
        )
        return False
    return wanted


def with_averages(model, averages):
    """Return a copy of the model that holds the averaged weights."""
    copy = YOLO11n(model.num_classes, class_width=model.class_width, size=model.size)
    state = model.state_dict()
    state |= {name: np.asarray(v.get_value(borrow=True)) for name, v in averages.items()}
    copy.load_state_dict(state)
    return copy


class Interrupted(Exception):
    """A signal has come: the validation ends here, and then the run."""


class LocalWeights:
    """Copies of weights that lie on the devices of several processes, for one process alone.

    `variables` are shared variables, by name; `place` brings the values of now to `devices`.
    """

    def __init__(self, weights, devices):
        self.weights, self.devices = weights, devices
        values = {name: np.array(v.get_value(borrow=True)) for name, v in weights.items()}
        self.variables = {
            name: pytensor.shared(v, name=name, shape=v.shape) for name, v in values.items()
        }

    def place(self):
        for name, variable in self.variables.items():
            variable.set_value(np.asarray(self.weights[name].get_value(borrow=True)))
        self.devices.replicate(self.variables.values())


class Validator:
    """Runs the averaged weights on the validation set.

    `detector` is a function of `compile_detector` for `batch_size` images, which `devices.local()`
    share.
    Each of several processes takes its share of the set, with `weights`, and gets the detections
    of all.  The methods of `interrupts` are called before each batch, and when a share is done.
    """

    def __init__(self, detector, dataset, batch_size, devices, interrupts, weights=None):
        self.detector, self.dataset, self.batch_size = detector, dataset, batch_size
        self.devices, self.own = devices, devices.local()
        self.interrupts, self.weights = interrupts, weights

    def score(self):
        """Return (what `coco_map` says, the detections)."""

        def detector(images):
            self.interrupts.check()
            return self.detector(*self.own.shard([images]))

        if self.weights is not None:
            self.weights.place()
        places = self.devices.rows(len(self.dataset))
        with contextlib.suppress(Interrupted):
            try:
                detections = detect(detector, self.dataset, self.batch_size, places=places)
            except NotFiniteError:
                raise TrainingError(
                    "the averaged weights predict NaN or infinity, while the losses are finite; "
                    f"start again with a lower --lr{self.interrupts.before()}"
                ) from None
        self.interrupts.end_together()
        detections = self._gather(detections)
        return coco_map(self.dataset, detections), detections

    def _gather(self, found):
        """Return the detections of all processes, by image id, in the data set's order."""
        if self.devices.processes == 1:
            return found
        counts = np.array([len(rows) for rows in found.values()], np.int32)
        rows = np.concatenate([np.empty((0, 6), np.float32), *found.values()])
        counts, rows = self.devices.gather(counts), self.devices.gather(rows)
        parts = np.split(rows, np.cumsum(counts)[:-1])
        return dict(zip(self.dataset.image_ids, parts, strict=True))

    def columns(self, epoch):
        """Return the columns of results.csv of an epoch."""
        result, _ = self.score()
        scores = {name: result[name] for name in ("map50", "map50_95")}
        print("epoch {}: mAP@0.5 {:.4f}, mAP@0.5:0.95 {:.4f}".format(epoch, *scores.values()))
        return scores

    def predict(self, images):
        """Return predictions for a batch, computed in full float32.

        GPUs and TPUs round the factors of products to fewer bits by default, which training can
        bear, but not the comparison with another program.
        """
        precision = contextlib.nullcontext()
        if jax.default_backend() != "cpu":  # which needs no second compilation
            precision = jax.default_matmul_precision("highest")
        with precision:
            return np.asarray(self.detector(*self.own.shard([images])))


def finish(run, validator):
    """Write metrics, pictures and the ONNX model of the best weights; build its page if asked to.

    The averages on the devices are the best ones after this.
    """
    o, folder = run.options, run.folder
    measure = None
    if o.statistics_images and not run.step.before:  # whose statistics are kept
        measure = measure_statistics(run, validator.devices)
    last, detections, measured = score_averages(run, validator, measure, run.progress.rows[-1])
    best, info = last, load_best(run)
    best_epoch = info["epoch"]
    if best_epoch != run.progress.epoch:
        best, detections, measured = score_averages(run, validator, measure, info)
    if not folder.first:
        return
    if measured:
        run.save_best(best_epoch, best["map50_95"])
        folder.require()
    metrics = best | {
        "best_epoch": best_epoch,
        "last": last,
        "epochs": run.progress.epoch,
        "train_seconds": sum(row["seconds"] for row in run.progress.rows),
        "classes": o.classes,
    }
    draw_validation(folder.path / "val_detections.png", validator.dataset, detections)
    write_curves(folder.path, validator.dataset, detections)
    if not o.no_export:
        metrics["onnx"] = export(run, validator, best["per_class"])
    folder.write("metrics.json", to_json(metrics))
    folder.require()
    # It is why an epoch's mAP differs here from what its validation printed.
    said = ", their statistics measured again" if measured else ""
    print(outcome(best, best_epoch, said, len(validator.dataset), folder.path))
    if note := limit_note(best):
        print(note)
    if o.own_data:
        draw_mistakes(folder.path / "mistakes.png", validator.dataset, as_drawn(detections))
        print(*verdict(validator.dataset, detections, best, run.loader.dataset.report), sep="\n")
    if o.require_map50 is not None and not best["map50"] >= o.require_map50:
        raise TrainingError(
            f"mAP@0.5 is {best['map50']:.4f}, below the {o.require_map50} asked for"
        )
    if builds_page(o):
        write_page(run, validator.dataset, best["map50"])


def score_averages(run, validator, measure, before):
    """Return the scores and detections of the averages, and whether their statistics are measured.

    They aren't if validation was better, by `before`: after long trainings with heavy augmentation,
    the statistics of augmented images fit worse than averages do.
    """
    if measure is None:
        return *validator.score(), False
    averages = run.step.averages.values()
    old = [average.get_value() for average in averages]
    measure()
    scores, detections = validator.score()
    if before["map50_95"] is None or scores["map50_95"] >= before["map50_95"]:
        return scores, detections, True
    for average, value in zip(averages, old, strict=True):
        average.set_value(value)
    run.step.place_variables()
    return *validator.score(), False


def outcome(best, epoch, measured, images, folder):
    """Return the line that says how well the best weights do; what helps, if they do nothing."""
    if best["map50"] < NOTHING:
        return (
            f"the model has learned nothing: mAP@0.5 is {best['map50']:.4f} on {images} held-out "
            f"images. Look at the labels, and at the losses in {folder / 'results.png'}: while "
            "they fall, more --epochs help"
        )
    return (
        f"best weights (epoch {epoch}){measured}: mAP@0.5 {best['map50']:.4f}, mAP@0.5:0.95 "
        f"{best['map50_95']:.4f} on {images} held-out images"
    )


def measure_statistics(run, devices):
    """Return what measures the normalizations' statistics of the averages on the devices.

    See `pytensor.optimizers.AveragedStatistics`.
    """
    step, loader, images = run.step, run.loader, run.options.statistics_images
    model = step.model
    with layers.training() as updates:
        model(step.images.images)
    variables = model.named_variables()
    averages = {variables[name]: average for name, average in step.averages.items()}
    if devices.count > 1:
        _, _, updates = over_devices([], [], updates)
    statistics = AveragedStatistics(
        step.images.variables, updates, averages, BN_MOMENTUM, step.mode
    )

    def measure():
        """Measure over the batches that would come after the last epoch, of two epochs at most."""
        count = min(-(-images // loader.batch_size), 2 * len(loader))
        epochs = map(loader.epoch, itertools.count(run.options.epochs))
        batches = itertools.islice(itertools.chain.from_iterable(epochs), count)
        arrays = (devices.shard(step.images.arguments(batch)) for batch in batches)
        statistics.refresh(arrays)
        step.place_variables()

    return measure


def load_best(run):
    """Put the best weights in the averages' place, if they are others; what their file says."""
    arrays, info = load_weights(run.folder.best)
    if info["epoch"] != run.progress.epoch:
        for name, average in run.step.averages.items():
            average.set_value(arrays[name])
        run.step.place_variables()
    return info


def export(run, validator, per_class):
    """Write the ONNX model of the averages, with their scores; the report of its verification."""
    o = run.options
    images = next(val_batches(validator.dataset, validator.batch_size)).images
    expected = validator.predict(images)
    averaged = with_averages(run.step.model, run.step.averages)
    # Only a whole and verified file gets the name.
    partial = o.export_onnx.with_name(f".{o.export_onnx.name}.partial")
    try:
        export_detector(
            averaged, partial, o.classes, o.image_size, trained_on=run.info["trained_on"],
            scores=held_out_scores(validator.dataset, per_class),
        )  # fmt: skip
        report = verify_export(partial, images[:COMPARED], expected[:COMPARED])
        os.replace(partial, o.export_onnx)
    finally:
        partial.unlink(missing_ok=True)
    print(
        f"exported {o.export_onnx}: {report['nodes']} nodes, boxes within "
        f"{report['box_difference']:.2g} px and scores within "
        f"{report['score_difference']:.2g} of PyTensor's"
    )
    return report


def held_out_scores(val_set, per_class):
    """Return what a model's file says of its precision; see `export.export_detector`."""
    on = f"{len(val_set)} pictures of its data that were held out"
    return {"on": on, "per_class": without_nan(per_class)}


def quantize(path, train_set, val_set, float_map50):
    """Write an exported model's 8-bit form with its own scores; None if it finds much less."""
    int8 = path.with_stem(f"{path.stem}_int8")
    last, count = len(train_set) - 1, min(PICTURES, len(train_set))
    places = np.linspace(0, last, count).round().astype(int)
    images = [train_set[k].image for k in places.tolist()]
    model = quantize_detector(path, int8, images, tolerance=math.inf)  # the score decides
    detector = OnnxDetector(int8)
    scores = coco_map(val_set, detect(detector, val_set, detector.batch_size))
    said = json.dumps(held_out_scores(val_set, scores["per_class"]), sort_keys=True)
    model.metadata_props.add(key="average_precision", value=said)
    write_atomically(int8, model.SerializeToString())
    map50 = scores["map50"]
    taken = map50 >= float_map50 - MAX_INT8_LOSS
    print(f"{int8}: mAP@0.5 {map50:.4f}; the page takes {'it' if taken else 'the float32 model'}")
    return int8 if taken else None


def write_page(run, val_set, map50):
    """Build the page of a run's model, in 8-bit integers if they find nearly as much."""
    o = run.options
    print("building the browser page and trying the model in 8 bits: about a minute")
    int8 = quantize(o.export_onnx, run.loader.dataset, val_set, map50)
    samples = None
    if o.own_data:
        own = functools.partial(data_assets, dataset=val_set)
        samples = own if o.samples else no_samples
    build_page(o.export_onnx, run.folder.path / "page", int8, samples)


def build_page(model, folder, int8=None, samples=None):
    """Build the browser page of the exported model in a folder, and say where it is."""
    try:
        report = build(model, folder, int8, samples=samples)
    except BuildError as error:
        raise TrainingError(
            f"the browser page could not be built: {error}; the model is {model}"
        ) from error
    print(*how_to_open(report), sep="\n")
