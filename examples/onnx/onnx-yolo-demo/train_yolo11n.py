"""Train YOLO11n to detect persons and cell phones, and export it to ONNX.

    python train_yolo11n.py --data synthetic --image-size 192 --batch-size 16 --epochs 20
    python train_yolo11n.py --data coco --epochs 100 --batch-size 64       # on a GPU
    python train_yolo11n.py --data PATH --classes NAME ...                 # own pictures

`--data coco` downloads what it needs of COCO 2017, `--data synthetic` draws pictures.  PATH is a
folder with ``annotations/instances_{train,val}[2017].json`` and the images, one of those two files,
or a data set with text labels: its folder or ``data.yaml`` (see `dataset.load_data`).

The output folder receives ``last.safetensors`` (to resume from), ``best.safetensors`` (the averaged
weights of the best epoch by mAP@0.5:0.95), ``results.csv``, ``results.png``, and, of the best
weights, ``metrics.json``, ``val_detections.png`` and the ONNX model; and what `run_folder`
describes.  `--build-page` makes the model's browser page, too (see `build_demo`).

Ctrl-C and SIGTERM end a run with a checkpoint of the running step; a killed run goes on from the
last checkpoint with the same results.
"""

import contextlib
import os
import shlex
import sys
import traceback

# Before PyTensor is imported: JAX keeps 64-bit types off then, which float32 training never uses.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

import jax
from data.coco import DownloadError
from data.loader import LoaderError
from export import ExportMismatch
from training.checkpoint import CheckpointError
from training.options import parse_arguments
from training.run_folder import Log, TrainingError, prepare_output
from training.stopping import Stopped, StopRequest
from training.trackers import TrackerError
from training.training_run import Run, say

from pytensor.link.jax.compilation_cache import use_cache
from pytensor.link.jax.devices import Devices, ParallelError, initialize, leave
from pytensor.link.jax.tuned.host_memory import keep_freed_memory

# Of the user's making, or the machine's; the message is all that helps. A full memory or disk
# (cache.CacheError) is an OSError.
KNOWN_ERRORS = (
    TrainingError, CheckpointError, DownloadError, ExportMismatch, LoaderError, ParallelError,
    TrackerError, OSError,
)  # fmt: skip


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
            devices = Devices(options.devices or jax.process_count())
            # A profile reads names that a program from the disk would bear from earlier on.
            use_cache(options.compilation_cache, options.profile is not None, say)
            run = Run(options, arguments, stop, devices)
            run.begin()
            if not (done := run.train()):
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
    except Exception:
        log.note(*traceback.format_exc().splitlines())
        raise
    finally:
        if run is not None:
            run.end(outcome)


def run_script():
    """Run `main`, and end the process even if others of the run are waiting for it."""
    # Else the kernel clears a step's temporary memory anew every time.
    keep_freed_memory()
    try:
        code = main()
    except Exception:
        traceback.print_exc()
        code = 1
    if code == 1:
        leave(code)
    sys.exit(code)


if __name__ == "__main__":
    run_script()
