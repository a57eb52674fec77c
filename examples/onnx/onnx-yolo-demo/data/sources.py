"""The data sets that train_yolo11n.py can be asked for."""

import os
import sys
from pathlib import Path

import jax
from data.coco import download_coco
from data.synthetic.generate import generate_dataset
from dataset import load_data
from training.run_folder import TrainingError


def open_data(options, devices):
    """Return (training set, validation set), generating the synthetic one if it is asked for.

    Parameters
    ----------
    options : argparse.Namespace
        Of `options.parse_arguments`.
    devices : Devices
        Of several processes, the first one downloads or draws the data.

    Raises
    ------
    TrainingError, DownloadError, ParallelError, OSError
        If the data are missing or wrong, or hold no box of the classes.
    """
    try:
        sets = load_sets(options, devices)
    except ValueError as error:  # which says what is wrong with the data
        raise TrainingError(str(error)) from error
    for name, dataset in zip(("training", "validation"), sets, strict=True):
        print(f"{name}: {dataset.summary()}")
        if not dataset.report["boxes"]:
            raise TrainingError(f"the {name} set has no box of {', '.join(options.classes)}")
    return sets


def load_sets(options, devices):
    """Find, download or draw the data, and read them."""
    o = options
    source = devices.main_first(lambda: find_source(o))

    def load():
        return load_data(
            source,
            o.classes,
            o.image_size,
            cache=o.cache,
            cache_dir=o.cache_dir,
            workers=o.workers,
            progress=sys.stderr.isatty(),
        )

    # Decoded pictures on a disk are written once; in memory, each process has its own.
    return devices.main_first(load) if o.cache == "disk" else load()


def find_source(options):
    """Where the data are, once they are downloaded or drawn if need be."""
    o = options
    if o.data == "coco":
        root = o.data_dir or Path("datasets/coco")
        return download_coco(
            root, o.classes, o.train_images, o.val_images, o.connections, seed=o.seed
        )
    if o.data != "synthetic":
        return Path(o.data)
    root = o.data_dir or Path("datasets/synthetic")
    if generate_dataset(root, o.train_images, o.val_images, jobs=os.cpu_count() or 1):
        print(f"drew {o.train_images} + {o.val_images} images into {root}")
    return root


def draws_on_device(choice, dataset):
    """Whether the training images are drawn on the device.

    Parameters
    ----------
    choice : "on", "off" or "auto"
        "auto" does where JAX has a GPU and the data set fits in half of its free memory.
    dataset : Dataset
    """
    if choice != "auto":
        return choice == "on"
    device = jax.local_devices()[0]
    memory = device.memory_stats()
    if device.platform != "gpu" or memory is None:
        return False
    free = memory["bytes_limit"] - memory["bytes_in_use"]
    return dataset.squares.nbytes <= free / 2
