"""Training pictures that the starting weights get wrong, which an epoch draws more often.

``hard.csv`` in the run's folder has a row for each training picture, in the data set's order:
``missed``, how many labelled things weren't found; ``false``, the sum of the scores of detections
where there is no such thing; ``error``, both together for each labelled thing, or as they are where
there is none; ``weight``, in proportion to which the picture is drawn (`data.loader.make_pools`).
"""

import csv
import io
import sys

import numpy as np
from evaluation.detectors import Suppression, detect
from evaluation.metrics import mistakes
from training.run_folder import TrainingError
from training.train_step import compile_detector

FILE = "hard.csv"
COLUMNS = ("picture", "missed", "false", "error", "weight")
DRAWN = Suppression(0.25, 0.45)  # the page's: a mistake is what it would draw wrongly or not draw
# The worst pictures with mistakes, this percentage, weigh the same: many have wrong labels.
WORST = 5


def find_hard(options, folder, model, train_set, devices):
    """Return the content of ``hard.csv``, for all processes; None without ``--hard-share``.

    A resumed run reads what it began with.  Of several processes each looks for mistakes in its
    share of the pictures.
    """
    o = options
    if not o.hard_share:
        return None
    path = folder.path / FILE
    if o.resume:
        if not path.exists():
            raise TrainingError(f"--hard-share: {path} is missing, which the run began with")
        return path.read_text(encoding="utf-8")
    rows = o.batch_size // devices.count
    detector = compile_detector(model, o.image_size, rows, mode=o.mode)
    places = devices.rows(len(train_set))
    found = detect(detector, train_set, rows, sys.stderr.isatty(), places, DRAWN)
    counts = devices.gather(count_mistakes(train_set, found)[places.start : places.stop])
    wrong = int((counts.sum(axis=1) > 0).sum())
    print(
        f"the starting weights make mistakes in {wrong} of {len(train_set)} training images; "
        f"{path} lists them"
    )
    return to_csv(train_set, counts)


def count_mistakes(dataset, detections):
    """Return each image's number of missed things and sum of false scores, float32 (n, 2).

    Both as `evaluation.metrics.mistakes` has them: crowds count for neither, nor do classes that
    an image isn't labelled for.
    """
    false, missed = mistakes(dataset, detections)
    places = {image_id: place for place, image_id in enumerate(dataset.image_ids)}
    counts = np.zeros((len(dataset), 2), np.float32)
    for row in missed:
        counts[places[row["image_id"]], 0] += 1
    for row in false:
        counts[places[row["image_id"]], 1] += row["score"]
    return counts


def to_csv(dataset, counts):
    """Return the content of ``hard.csv`` of what `count_mistakes` returns."""
    error = counts.sum(axis=1) / np.maximum(dataset.box_counts(), 1)
    if not error.any():
        raise TrainingError(
            "--hard-share: the starting weights make no mistake in the training images; leave the "
            "option out"
        )
    weight = np.minimum(error, np.percentile(error[error > 0], 100 - WORST))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for place, row in enumerate(np.column_stack([counts, error, weight]).tolist()):
        writer.writerow([dataset.file_name(place), *(f"{value:.6g}" for value in row)])
    return text.getvalue()


def read_weights(text, dataset):
    """Return the images' weights, float64 (n,), that the text of ``hard.csv`` holds."""
    rows = list(csv.DictReader(io.StringIO(text)))
    names = [dataset.file_name(place) for place in range(len(dataset))]
    if [row.get("picture") for row in rows] != names:
        raise TrainingError(
            f"{FILE} is of other pictures than the training set's {len(names)}; a run is resumed "
            "with the file and the pictures that it began with"
        )
    return np.array([float(row["weight"]) for row in rows])
