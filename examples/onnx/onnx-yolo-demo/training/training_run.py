"""A training run: its loop, its sessions, and the files it goes on from."""

import contextlib
import copy
import csv
import io
import math
import shutil
import sys
import time
from dataclasses import asdict

import jax
from data.loader import LoaderError
from data.sources import draws_on_device, open_data
from evaluation.report import draw_curves
from tqdm import tqdm
from training.assembly import make_loader, make_model, make_step
from training.checkpoint import NotFinite, load_checkpoint, restore, snapshot, to_bytes
from training.finishing import Validator, finish, page_problem
from training.options import make_recipe
from training.parts import (
    LOSS_PARTS,
    EarlyStopping,
    IdleClock,
    StepSettings,
    compile_detector,
    prefetch,
    resolve,
    with_averages,
)
from training.profiling import FOLDER as PROFILE
from training.profiling import Profiler
from training.progress import BadStep, Progress
from training.run_folder import (
    Outbox,
    Settings,
    StepLog,
    Terminal,
    Timer,
    TrainingError,
    clear_run,
    prepare_export,
    resume_command,
)
from training.stopping import Stopped
from training.trackers import Trackers
from training.weights import model_info, read_arrays

from pytensor.link.jax.devices import agree

COLUMNS = [
    "epoch", *LOSS_PARTS, "lr", "images_per_s", "map50", "map50_95", "seconds", "waited_share",
]  # fmt: skip
STEP_COLUMNS = ["step", "epoch", *LOSS_PARTS, "gradient_norm", "lr"]
# Of the learning rate, after a step that was not finite.
ROLL_BACK_FACTOR = 0.1
MAX_ROLL_BACKS = 1
ASK_EVERY = 20  # steps between the questions of one process to the others
# Options that a resumed run may change, but in which its processes must agree: they would wait for
# one another at different places otherwise.
COMMON = (
    "resume", "val_every", "patience", "checkpoint_every", "stop_after", "no_export",
    "device_augment", "statistics_images",
)  # fmt: skip


def say(text):
    """Print a line in the middle of a progress bar, too."""
    tqdm.write(text, file=sys.stdout)
    sys.stdout.flush()


@contextlib.contextmanager
def full_memory():
    """Have a device whose memory doesn't suffice end the run with one line."""
    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        reason = str(error).splitlines()[0]
        raise TrainingError(
            f"the device's memory is full ({reason}); try a smaller --batch-size or --image-size, "
            "or --device-augment off"
        ) from error


class Run:
    """A training run: data, model, compiled functions and files.

    Parameters
    ----------
    options : argparse.Namespace of `parse_arguments`
    arguments : list of str
        The command line, for the record.
    stop : StopRequest
    devices : Devices
    """

    def __init__(self, options, arguments, stop, devices):
        self.options, self.arguments, self.stop = options, arguments, stop
        self.devices = devices
        devices.check_batch_size(options.batch_size)
        self.output = options.output_dir
        self.last, self.best = (self.output / f"{name}.safetensors" for name in ("last", "best"))
        self.outbox = Outbox(self.output, say, enabled=devices.is_main)
        trackers = (options.wandb, options.tensorboard) if devices.is_main else (None, False)
        self.trackers = Trackers(self.output, *trackers, say)
        if not options.no_export and devices.is_main:
            prepare_export(options.export_onnx)
        if options.build_page and devices.is_main and (problem := page_problem(options)):
            say(f"warning: no browser page will be built at the end: {problem}")
        if options.weights is not None and not options.resume:
            read_arrays(options.weights)  # a wrong file shows before the data are fetched
        self.train_set, self.val_set = open_data(options, devices)
        recipe = make_recipe(options)
        self.recipe = resolve(
            recipe, len(self.train_set), options.batch_size, options.epochs, len(options.classes)
        )
        self.progress = Progress()
        self.saved_step = None  # of what `last` holds, if it is of this run
        self.scored = None  # what the validator said of the averaged weights as they are
        self.settings_file = None
        self.stop_number = 0  # of the signal that all processes know of
        self.lost = None  # the loader's error
        self.compile()
        if options.resume:
            self.load_last()
        self.good = self.snapshot()
        every = options.log_every if devices.is_main else 0
        self.step_log = StepLog(self.output / "steps.csv", STEP_COLUMNS, every)
        self.timer = Timer(options.checkpoint_minutes, options.checkpoint_steps)
        steps = options.profile if devices.is_main else None
        self.profiler = Profiler(self.output, steps, self.train_step, say)

    @full_memory()
    def compile(self):
        """Make the loader, the model, and the functions that train and validate it."""
        o, devices = self.options, self.devices
        # All processes run the same program: if one lacks the room, none draws.
        render = not draws_on_device(o.device_augment, self.train_set)
        draw = devices.largest([int(render)]) == [0]
        self.loader = make_loader(o, self.train_set, devices, render=not draw)
        common = {name: getattr(o, name) for name in COMMON} | {"val_images": len(self.val_set)}
        agree(self.settings() | common)
        self.rates = StepSettings(self.recipe, o.epochs, len(self.loader), o.batch_size)
        self.model = make_model(o, self.last)
        self.model_info = model_info(self.model, o.classes, o.image_size)
        self.train_step = make_step(o, self.model, self.loader, self.rates, devices, draw)
        detector = compile_detector(
            self.model, o.image_size, o.batch_size, self.train_step.averages, o.mode
        )
        self.validator = Validator(detector, self.val_set, o.batch_size, devices, self.check_stop)

    def settings(self):
        """What a resumed run must share with the one it continues."""
        o = self.options
        data = {"images": len(self.train_set), "max_boxes": self.loader.max_boxes}
        own = {
            name: getattr(o, name)
            for name in (
                "epochs", "batch_size", "image_size", "classes", "seed", "mosaic",
                "close_mosaic", "scale", "precision",
            )
        }  # fmt: skip
        return own | data | asdict(self.recipe)

    # -------------------------------------------------------------------------- sessions

    def begin(self):
        """Open the files of the run, once nothing can go wrong any more for a known reason."""
        o, p = self.options, self.progress
        if not o.resume and self.devices.is_main:
            clear_run(self.output)
            shutil.rmtree(self.output / PROFILE, ignore_errors=True)
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
        self.profiler.close()
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

    @full_memory()
    def train(self):
        """Run the remaining epochs; after the last, write the final files and return True."""
        o = self.options
        until = o.epochs if o.stop_after is None else min(o.stop_after, o.epochs)
        while self.progress.epoch < until and not self.exhausted():
            try:
                self.train_epoch()
                self.end_epoch(until)
            except (BadStep, NotFinite) as error:
                self.roll_back(error)
        self.outbox.require()
        if done := self.progress.epoch == o.epochs or self.exhausted():
            finish(self)
        return done

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
                self.profiler.before_step()
                clock.stop()
                parts, norm = self.train_step.run(batch, rates, step_now, p.steps, self.recipe)
                clock.watch((parts, norm))
                self.profiler.after_step()
                if step_now:
                    p.last_step = p.iteration
                    p.steps += 1
                # The loss of the batch before: the device works on this one meanwhile.
                self.take(pending)
                pending = (p.iteration, parts, norm, rates[0])
                p.iteration += 1
                p.batch += 1
                p.seconds, p.waited = time.perf_counter() - start, waited + clock.idle_s
                if self.may_ask() and self.due():
                    self.take(pending)
                    pending = None
                    self.save_last()
                    self.check_stop()
                self.show(bar, p.batch - (pending is not None), rates[0])
            self.profiler.end()
            self.take(pending)
        if self.lost is not None:
            self.check_stop()
            if self.unsaved():
                self.save_last()
            raise self.lost
        p.seconds = time.perf_counter() - start
        if bar.disable and self.devices.is_main:  # no terminal: a line per epoch stands for the bar
            means = [f"{n} {v / size:.3f}" for n, v in zip(LOSS_PARTS, p.sums, strict=True)]
            print(f"epoch {p.epoch + 1}/{o.epochs}: {', '.join(means)}, {p.seconds:.1f} s",
                  flush=True)  # fmt: skip

    def may_ask(self):
        """Whether `due` is worth its time after this step."""
        return self.devices.process_count == 1 or self.progress.iteration % ASK_EVERY == 0

    def due(self):
        """Whether a checkpoint is due, or the run is to stop after one.

        Several processes must do the same at the same step, so they ask one another.
        """
        answers = [self.stop.number or 0, int(self.timer.due(self.progress.iteration))]
        self.stop_number, due = self.devices.largest(answers)
        return bool(self.stop_number or due)

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

    def checked(self, batches):
        """The batches; a signal ends the run between two of them."""
        for batch in batches:
            self.check_stop()
            yield batch

    def until_lost(self, batches):
        """The batches, up to where the loader's workers ended; `lost` says why."""
        try:
            yield from batches
        except LoaderError as error:
            # Of several processes, the others don't know and go on.
            if self.devices.process_count > 1:
                raise
            # A signal that ended the workers reached this process too, but perhaps not quite yet.
            time.sleep(0.2)
            self.lost = error

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
        self.scored = None
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
        due = self.due()
        validated = number == o.epochs or number % o.val_every == 0
        better = False
        self.scored = None
        if validated:
            self.scored = result, _ = self.validator.score()
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
        # With the best weights, so that both are always of the same course of a run.
        if better or last or due or number % o.checkpoint_every == 0:
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

    def load_last(self):
        """Go back to where the checkpoint was written."""
        info = load_checkpoint(self.last, self.model, self.train_step.state, self.settings())
        self.progress = Progress(**info["progress"])
        self.saved_step = self.progress.iteration
        self.train_step.place_variables()

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

    def save_best(self, epoch=None, map50_95=None):
        """Write the averaged weights; those of the latest epoch if no other is given."""
        averaged = with_averages(self.model, self.train_step.averages)
        epoch = self.progress.epoch if epoch is None else epoch
        map50_95 = self.progress.best if map50_95 is None else map50_95
        info = self.model_info | {"epoch": epoch, "map50_95": map50_95}
        self.outbox.write(self.best.name, to_bytes(self.best, averaged.state_dict(), info))

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
