"""Train YOLO11n to detect persons and cell phones, and export it to ONNX.

    python train_yolo11n.py --data synthetic --image-size 192 --batch-size 16 --epochs 20
    python train_yolo11n.py --data PATH --epochs 100 --batch-size 64       # on a GPU

PATH is a folder with ``annotations/instances_{train,val}[2017].json`` and the images.  The output
folder receives ``last.safetensors`` (to resume from), ``best.safetensors`` (averaged weights),
``results.csv``, ``results.png``, ``metrics.json``, ``val_detections.png``, the ONNX model, and
what `run_folder` describes.  Ctrl-C and SIGTERM end a run with a checkpoint of the running step;
a killed run goes on from the last checkpoint with the same results.
"""

import contextlib
import copy
import csv
import io
import math
import os
import shlex
import sys
import time
from dataclasses import asdict

# Before PyTensor is imported: JAX keeps 64-bit types off then, which float32 training never uses.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

import numpy as np
from augment import Augment
from checkpoint import (
    CheckpointError,
    NotFinite,
    load_checkpoint,
    load_weights,
    restore,
    snapshot,
    to_bytes,
    write_atomically,
)
from coco import DownloadError
from export import ExportMismatch, export_detector, verify_export
from jax.experimental.multihost_utils import process_allgather
from loader import BatchLoader, LoaderError, val_batches
from model import YOLO11n
from options import make_recipe, parse_arguments
from parallel import Devices, ParallelError, agree, initialize
from progress import BadStep, Progress
from report import draw_curves, draw_validation
from run_folder import (
    Log,
    Outbox,
    Settings,
    StepLog,
    Terminal,
    Timer,
    TrainingError,
    clear_run,
    prepare_export,
    prepare_output,
    resume_command,
    to_json,
)
from sources import draws_on_device, open_data
from stopping import Stopped, StopRequest
from tqdm import tqdm
from trackers import TrackerError, Trackers
from training import (
    LOSS_PARTS,
    DeviceImages,
    EarlyStopping,
    IdleClock,
    StepSettings,
    TrainStep,
    compile_detector,
    detect,
    prefetch,
    resolve,
    with_averages,
)
from utils import coco_map
from weights import load_pretrained, model_info

COLUMNS = [
    "epoch", *LOSS_PARTS, "lr", "images_per_s", "map50", "map50_95", "seconds", "waited_share",
]  # fmt: skip
STEP_COLUMNS = ["step", "epoch", *LOSS_PARTS, "gradient_norm", "lr"]
# Of the learning rate, after a step that was not finite.
ROLL_BACK_FACTOR = 0.1
MAX_ROLL_BACKS = 1
ASK_EVERY = 20  # steps between the questions of one process to the others
# Of the user's making, or the machine's; the message is all that helps.
KNOWN_ERRORS = (
    TrainingError, CheckpointError, DownloadError, ExportMismatch, LoaderError, ParallelError,
    TrackerError, OSError,
)  # fmt: skip


def say(text):
    """Print a line in the middle of a progress bar, too."""
    tqdm.write(text, file=sys.stdout)
    sys.stdout.flush()


class Run:
    """A training run: data, model, compiled functions and files.

    Parameters
    ----------
    options : argparse.Namespace of `parse_arguments`
    arguments : list of str
        The command line, for the record.
    stop : StopRequest
    devices : parallel.Devices
    """

    def __init__(self, options, arguments, stop, devices):
        self.options, self.arguments, self.stop = options, arguments, stop
        self.devices = devices
        devices.check_batch_size(options.batch_size)
        self.output = options.output_dir
        self.outbox = Outbox(self.output, say, enabled=devices.is_main)
        trackers = (options.wandb, options.tensorboard) if devices.is_main else (None, False)
        self.trackers = Trackers(self.output, *trackers, say)
        if not options.no_export:
            prepare_export(options.export_onnx)
        self.train_set, self.val_set = open_data(options)
        recipe = make_recipe(options)
        self.recipe = resolve(
            recipe, len(self.train_set), options.batch_size, options.epochs, len(options.classes)
        )
        self.device_augment = draws_on_device(options.device_augment, self.train_set)
        self.loader = self.make_loader()
        self.rates = StepSettings(self.recipe, options.epochs, len(self.loader), options.batch_size)
        self.model = self.make_model()
        self.model_info = model_info(self.model, options.classes, options.image_size)
        self.train_step = self.make_step()
        self.detector = compile_detector(
            self.model, options.image_size, options.batch_size, self.train_step.averages
        )
        self.progress = Progress()
        self.saved_step = None  # of what `last` holds, if it is of this run
        self.detections = None  # of the averaged weights, if those were validated
        self.settings_file = None
        self.stop_number = 0  # of the signal that all processes know of
        agree(self.settings())
        if options.resume:
            info = load_checkpoint(self.last, self.model, self.train_step.state, self.settings())
            self.progress = Progress(**info["progress"])
            self.saved_step = self.progress.iteration
            self.train_step.place_variables()
        self.good = self.snapshot()
        every = options.log_every if devices.is_main else 0
        self.step_log = StepLog(self.output / "steps.csv", STEP_COLUMNS, every)
        self.timer = Timer(options.checkpoint_minutes, options.checkpoint_steps)

    def make_loader(self):
        """The batches of the training set, or of this process's part of each."""
        o = self.options
        return BatchLoader(
            self.train_set,
            o.batch_size,
            seed=o.seed,
            augment=Augment(mosaic=o.mosaic, scale=o.scale),
            workers=o.workers,
            mosaic_until=max(o.epochs - o.close_mosaic, 0),
            render=not self.device_augment,
            part=self.devices.part,
        )

    def make_step(self):
        """The compiled training step."""
        o = self.options
        images = None
        if self.device_augment:
            images = DeviceImages(self.train_set.squares, o.image_size, o.batch_size)
        return TrainStep(
            self.model,
            o.image_size,
            o.batch_size,
            self.loader.max_boxes,
            self.rates.weight_decay,
            self.rates.accumulate,
            optimizer=self.recipe.optimizer,
            images=images,
            place=self.devices.replicate,
            put=self.devices.shard if self.devices.count > 1 else None,
        )

    def make_model(self):
        """The model as the options say, before any checkpoint is loaded."""
        o = self.options
        if o.weights is None:
            return YOLO11n(len(o.classes), seed=o.seed)
        if o.resume:  # the width of a branch is that of the weights it began with
            _, info = load_weights(self.last)
            width = info.get("class_width")
            return YOLO11n(len(o.classes), seed=o.seed, class_width=width)
        model, report = load_pretrained(o.weights, o.classes, seed=o.seed)
        print(report["text"])
        return model

    @property
    def last(self):
        """Path of the checkpoint."""
        return self.output / "last.safetensors"

    def settings(self):
        """What a resumed run must share with the one it continues."""
        o = self.options
        data = {"images": len(self.train_set), "max_boxes": self.loader.max_boxes}
        own = {
            name: getattr(o, name)
            for name in (
                "epochs", "batch_size", "image_size", "classes", "seed", "mosaic",
                "close_mosaic", "scale",
            )
        }  # fmt: skip
        return own | data | asdict(self.recipe)

    # -------------------------------------------------------------------------- sessions

    def begin(self):
        """Open the files of the run, once nothing can go wrong any more for a known reason."""
        o, p = self.options, self.progress
        if not o.resume and self.devices.is_main:
            clear_run(self.output)
        self.settings_file = Settings(self.outbox, o.resume)
        facts = {"seed": o.seed, "options": vars(o), "recipe": asdict(self.recipe)}
        self.settings_file.begin(self.arguments, p.epoch, p.iteration, **facts)
        self.trackers.start(self.settings_file.content["run_id"], self.settings(), p.epoch)
        self.step_log.rewind(p.iteration)
        self.timer.restart(p.iteration)
        if o.resume:
            within = f" and {p.batch} batches" if p.batch else ""
            print(f"resumed after epoch {p.epoch}{within} of {o.epochs}")

    def end(self, outcome):
        """Note how the session ended, and close its files."""
        self.step_log.close()
        self.loader.close()
        self.trackers.close()
        self.end_now(outcome)

    def end_now(self, outcome):
        """Note the end of a session whose main thread is still at work."""
        if self.settings_file is not None:
            self.settings_file.end(outcome)

    def tell_stop(self):
        """Say how far the run came and how it goes on."""
        p = self.progress
        within = f", batch {p.batch} of {len(self.loader)} of the next" if p.batch else ""
        print(f"stopped after epoch {p.epoch}{within}; go on with\n"
              f"  {resume_command(self.arguments)}", flush=True)  # fmt: skip

    def unsaved(self):
        """Whether the latest step is in no checkpoint."""
        step = self.progress.iteration
        if step == 0:
            return False
        return self.saved_step != step or self.last in self.outbox.waiting

    def nothing_to_lose(self):
        """What to say if the process may end at once, None if steps would be lost."""
        if self.unsaved() or self.devices.process_count > 1:
            return None
        if self.progress.iteration == 0:
            return "stopped before the first step: there is nothing to save"
        return f"stopped; {self.last} is up to date; go on with\n  {resume_command(self.arguments)}"

    # -------------------------------------------------------------------------- training

    def train(self):
        """Run the remaining epochs; True if all are done."""
        o = self.options
        until = o.epochs if o.stop_after is None else min(o.stop_after, o.epochs)
        while self.progress.epoch < until and not self.exhausted():
            try:
                self.train_epoch()
                self.end_epoch(until)
            except (BadStep, NotFinite) as error:
                self.roll_back(error)
        self.outbox.require()
        return self.progress.epoch == o.epochs or self.exhausted()

    def exhausted(self):
        """Whether the precision hasn't risen for as many epochs as --patience says."""
        stopping = EarlyStopping(self.options.patience)
        validated = [row for row in self.progress.rows if row["map50_95"] is not None]
        return any(stopping.update(row["epoch"], row["map50_95"]) for row in validated)

    def train_epoch(self):
        """Train the rest of the running epoch."""
        o, p, size = self.options, self.progress, len(self.loader)
        start, waited, pending = time.perf_counter() - p.seconds, p.waited, None
        with self.bar() as bar, self.batches() as batches, IdleClock() as clock:
            clock.watch(())  # nothing to do until the first batch comes
            for batch in self.until_lost(batches):
                *rates, accumulate = self.rates.at(p.epoch, p.iteration)
                rates[:2] = [rate * p.lr_factor for rate in rates[:2]]
                step_now = p.iteration - p.last_step >= accumulate
                clock.stop()
                parts, norm = self.train_step.run(batch, rates, step_now, p.steps, self.recipe)
                clock.watch((parts, norm))
                if step_now:
                    p.last_step = p.iteration
                    p.steps += 1
                # The loss of the batch before: the device works on this one meanwhile.
                self.take(pending)
                pending = (p.iteration, parts, norm, rates[0])
                p.iteration += 1
                p.batch += 1
                p.seconds, p.waited = time.perf_counter() - start, waited + clock.idle_s
                if self.due():
                    self.take(pending)
                    pending = None
                    self.save_last()
                    self.check_stop()
                self.show(bar, p.batch - (pending is not None), rates[0])
            self.take(pending)
        if p.batch < size:
            self.check_stop()
        p.seconds = time.perf_counter() - start
        if bar.disable and self.devices.is_main:  # no terminal: a line per epoch stands for the bar
            means = [f"{n} {v / size:.3f}" for n, v in zip(LOSS_PARTS, p.sums, strict=True)]
            print(f"epoch {p.epoch + 1}/{o.epochs}: {', '.join(means)}, {p.seconds:.1f} s",
                  flush=True)  # fmt: skip

    def due(self):
        """Whether a checkpoint is due, or the run is to stop after one.

        Several processes must do the same at the same step, so they ask one another.
        """
        number, due = self.stop.number or 0, self.timer.due(self.progress.iteration)
        if self.devices.process_count > 1:
            if self.progress.iteration % ASK_EVERY:
                return False
            answers = process_allgather(np.array([number, due], dtype=np.int32))
            number, due = np.reshape(answers, (-1, 2)).max(axis=0).tolist()
        self.stop_number = number
        return bool(number or due)

    def bar(self):
        """The progress bar of the running epoch; disabled where there is no terminal."""
        p = self.progress
        return tqdm(
            total=len(self.loader),
            initial=p.batch,
            desc=f"epoch {p.epoch + 1}/{self.options.epochs}",
            unit="batch",
            file=Terminal(sys.stderr),
            disable=None,
        )

    def show(self, bar, count, lr):
        """Move the bar on by a batch; `count` batches' losses are known."""
        p = self.progress
        means = {n: f"{v / max(count, 1):.3f}" for n, v in zip(LOSS_PARTS, p.sums, strict=True)}
        speed = p.batch * self.options.batch_size / p.seconds
        bar.set_postfix(means | {"img/s": f"{speed:.0f}", "lr": f"{lr:.2g}"}, refresh=False)
        bar.update()

    @contextlib.contextmanager
    def batches(self):
        """The running epoch's batches that are left, on the device already."""
        p = self.progress
        with (
            contextlib.closing(self.loader.epoch(p.epoch, p.batch)) as source,
            contextlib.closing(prefetch(source, self.train_step.transfer)) as batches,
        ):
            yield batches

    def until_lost(self, batches):
        """The batches, up to where a signal that reached the loader's workers ended them."""
        try:
            yield from batches
        except LoaderError:
            # It reached this process too, but perhaps not quite yet.
            time.sleep(0.2)
            if self.stop.number is None:
                raise

    def take(self, pending):
        """Fetch the loss parts of an earlier batch and add them to the epoch's sums.

        Raises
        ------
        BadStep
            If they, or the gradient's norm, aren't finite: the loss would only show the latter a
            step later, and a checkpoint might lie between.
        """
        if pending is None:
            return
        iteration, parts, norm, lr = pending
        p = self.progress
        values = {name: float(part) for name, part in zip(LOSS_PARTS, parts, strict=True)}
        losses = list(values.values())
        norm = None if norm is None else float(norm)
        self.step_log.add(iteration + 1, p.epoch + 1, *losses, norm, lr)
        if norm is not None:
            values["gradient_norm"] = norm
        if not all(map(math.isfinite, values.values())):
            shown = ", ".join(f"{name} {value:.4g}" for name, value in values.items())
            raise BadStep(
                f"the loss or its gradient is not finite in epoch {p.epoch + 1}, step "
                f"{iteration + 1}: {shown}"
            )
        p.sums = [total + loss for total, loss in zip(p.sums, losses, strict=True)]

    def roll_back(self, error):
        """Go back to the last good state with a lower learning rate; raise if that was tried."""
        arrays, progress = self.good
        if progress["roll_backs"] >= MAX_ROLL_BACKS:
            kept = (
                "there is no checkpoint yet"
                if self.saved_step is None
                else f"{self.last} holds the state after step {self.saved_step}"
            )
            raise TrainingError(f"{error}; {kept}; try a lower --lr") from None
        restore(self.model, self.train_step.state, arrays)
        self.train_step.place_variables()
        self.progress = p = Progress(**copy.deepcopy(progress))
        p.lr_factor *= ROLL_BACK_FACTOR
        p.roll_backs += 1
        self.detections = None
        self.step_log.rewind(p.iteration)
        say(
            f"warning: {error}; going back to the state after step {p.iteration}, with the "
            f"learning rate times {p.lr_factor:g} from there on"
        )
        # A run that is killed now must not come here again with the rate of before.
        self.save_last()

    def end_epoch(self, until):
        """Validate and write what is due after an epoch's last batch."""
        o, p = self.options, self.progress
        number = p.epoch + 1
        row = self.row()
        validated = number == o.epochs or number % o.val_every == 0
        better = False
        if validated:
            result = self.validate()
            row |= {"map50": result["map50"], "map50_95": result["map50_95"]}
            print(f"epoch {number}: mAP@0.5 {row['map50']:.4f}, "
                  f"mAP@0.5:0.95 {row['map50_95']:.4f}", flush=True)  # fmt: skip
            better = row["map50_95"] > p.best
            p.best = max(p.best, row["map50_95"])
        p.next_epoch(row)
        self.trackers.log(row)
        exhausted = self.exhausted()
        if exhausted:
            print(f"no better mAP@0.5:0.95 for {o.patience} epochs: training ends here")
        last = number == until or exhausted
        self.write_results(draw=validated or last)
        if better:
            self.save_best()
        if last or number % o.checkpoint_every == 0 or self.timer.due(p.iteration):
            self.save_last()
        self.check_stop()

    def row(self):
        """The running epoch's row of results.csv."""
        o, p, size = self.options, self.progress, len(self.loader)
        return {
            "epoch": p.epoch + 1,
            **dict(zip(LOSS_PARTS, (total / size for total in p.sums), strict=True)),
            "lr": self.rates.at(p.epoch, p.iteration - 1)[0] * p.lr_factor,
            "images_per_s": size * o.batch_size / p.seconds,
            "map50": None,
            "map50_95": None,
            "seconds": p.seconds,
            "waited_share": p.waited / p.seconds,
        }

    def validate(self):
        """Mean average precision of the averaged weights; the detections are kept."""

        def detector(images):
            self.check_stop()
            return self.run_detector(images)

        self.detections = None
        self.detections = detect(detector, self.val_set, self.options.batch_size)
        return coco_map(self.val_set, self.detections)

    def run_detector(self, images):
        """Predictions for a batch; every process gets all of them."""
        rows = self.devices.rows(len(images))
        return self.devices.fetch(self.detector(*self.devices.shard([images[rows]])))

    def check_stop(self):
        """Raise Stopped, after a checkpoint, if a signal has come."""
        if self.devices.process_count == 1:
            self.stop_number = self.stop.number
        if self.stop_number:
            if self.unsaved():
                self.save_last()
            self.outbox.require()
            raise Stopped(self.stop_number)

    # -------------------------------------------------------------------------- files

    def snapshot(self):
        """Copy of all that a checkpoint holds: arrays, and progress as a dict."""
        return snapshot(self.model, self.train_step.state), copy.deepcopy(asdict(self.progress))

    def save_last(self):
        """Write the checkpoint to resume from; NotFinite if there is nothing good to write."""
        arrays, progress = self.snapshot()
        info = self.model_info | {"settings": self.settings(), "progress": progress}
        data = to_bytes(self.last, arrays, info)
        self.good = arrays, progress
        self.timer.restart(self.progress.iteration)
        self.outbox.write(self.last.name, data)
        if self.last not in self.outbox.waiting:
            self.saved_step = self.progress.iteration

    def save_best(self):
        """Write the averaged weights."""
        averaged = with_averages(self.model, self.train_step.averages)
        info = self.model_info | {"epoch": self.progress.epoch, "map50_95": self.progress.best}
        path = self.output / "best.safetensors"
        self.outbox.write(path.name, to_bytes(path, averaged.state_dict(), info))

    def write_results(self, draw):
        """Write results.csv, and results.png if `draw`."""
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, COLUMNS)
        writer.writeheader()
        writer.writerows(self.progress.rows)
        self.outbox.write("results.csv", text.getvalue().encode())
        if draw and self.devices.is_main:
            try:
                draw_curves(self.output / "results.png", self.progress.rows)
            except OSError as error:  # the next one shows the same curves
                say(f"warning: results.png could not be written: {error.strerror or error}")

    def finish(self):
        """Write metrics, pictures and the ONNX model from the averaged weights."""
        o = self.options
        if self.detections is None:  # the run was complete when it was resumed
            result = self.validate()
        else:
            result = coco_map(self.val_set, self.detections)
        metrics = result | {
            "epochs": self.progress.epoch,
            "train_seconds": sum(row["seconds"] for row in self.progress.rows),
            "classes": o.classes,
        }
        if self.devices.is_main:
            draw_validation(
                self.output / "val_detections.png", self.val_set, self.detections, o.classes
            )
        if not o.no_export:
            metrics["onnx"] = self.export()
        if self.devices.is_main:
            write_atomically(self.output / "metrics.json", to_json(metrics))
        print(f"mAP@0.5 {result['map50']:.4f}, mAP@0.5:0.95 {result['map50_95']:.4f} "
              f"on {len(self.val_set)} held-out images")  # fmt: skip
        if o.require_map50 is not None and not result["map50"] >= o.require_map50:
            raise TrainingError(
                f"mAP@0.5 is {result['map50']:.4f}, below the {o.require_map50} asked for"
            )

    def export(self):
        """Write the ONNX model; the report of its verification."""
        o = self.options
        if not self.devices.is_main:
            # The first process compares with the detector, which runs on the devices of all.
            self.run_detector(next(val_batches(self.val_set, o.batch_size)).images)
            return None
        averaged = with_averages(self.model, self.train_step.averages)
        # Only a whole and verified file gets the name.
        partial = o.export_onnx.with_name(f".{o.export_onnx.name}.partial")
        try:
            batch = None if o.dynamic_batch else 1
            export_detector(averaged, partial, o.classes, o.image_size, batch)
            report = verify_export(partial, self.run_detector, self.val_set, o.batch_size)
            os.replace(partial, o.export_onnx)
        finally:
            partial.unlink(missing_ok=True)
        print(
            f"exported {o.export_onnx}: {report['nodes']} nodes, boxes within "
            f"{report['box_difference']:.2g} px and scores within "
            f"{report['score_difference']:.2g} of PyTensor's"
        )
        return report


def main(arguments=None):
    """Train as the command line says.

    Errors of the user's making, and those of disks, end with one line; what else may be raised is
    a bug, and shows its traceback.

    Returns
    -------
    int
        The exit code: 128 + its number if a signal ended the run.
    """
    arguments = [*map(str, sys.argv[1:] if arguments is None else arguments)]
    options = parse_arguments(__doc__.splitlines()[0], arguments)
    is_main = not options.process_id
    try:
        if is_main:
            prepare_output(options.output_dir, options.resume, options.overwrite)
        log = Log(options.output_dir / "train.log" if is_main else os.devnull, sys.stdout, is_main)
    except (TrainingError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    with contextlib.closing(log), contextlib.redirect_stdout(log):
        log.note(f"command: {shlex.join([sys.executable, sys.argv[0], *arguments])}")
        return run_session(options, arguments, log)


def run_session(options, arguments, log):
    """Train, from the beginning or a checkpoint, till the end or a signal; the exit code."""
    run, outcome = None, "failed"

    def nothing_to_lose():
        if run is None:
            kept = "the checkpoint stays as it is" if options.resume else "there is nothing to save"
            return f"stopped before training began: {kept}"
        message = run.nothing_to_lose()
        if message is not None:
            run.end_now("stopped")
        return message

    try:
        initialize(options.coordinator, options.num_processes, options.process_id)
        with StopRequest(say, nothing_to_lose) as stop:
            run = Run(options, arguments, stop, Devices(options.devices))
            run.begin()
            done = run.train()
            if done:
                run.finish()
            else:
                run.tell_stop()
        outcome = "finished" if done else "stopped"
        return 0
    except Stopped as error:
        outcome = f"stopped by {error}"
        run.tell_stop()
        return error.exit_code
    except KNOWN_ERRORS as error:
        outcome = f"error: {' '.join(str(error).split())}"
        log.note(outcome)
        print(outcome, file=sys.stderr)
        return 1
    finally:
        if run is not None:
            run.end(outcome)


if __name__ == "__main__":
    sys.exit(main())
