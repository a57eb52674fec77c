"""The confusion matrix of a detector, and its precision, recall and F1, as tables and pictures."""

import csv

import numpy as np
from evaluation.detectors import as_drawn
from evaluation.metrics import CONFIDENCES, confusion, curves


def write_curves(folder, dataset, detections):
    """Write the confusion matrix, and precision, recall and F1, as tables and as pictures.

    ``confusion_matrix.csv`` and ``.png`` are of detections as a page draws them, ``curves.csv`` and
    ``.png`` of all.
    """
    table, names = confusion(dataset, as_drawn(detections)), [*dataset.classes, "nothing"]
    rows = [["labelled", *(f"found {name}" for name in names)]]
    rows += [[name, *own] for name, own in zip(names, table.tolist(), strict=True)]
    _write_table(folder / "confusion_matrix.csv", rows)
    _draw_confusion(folder / "confusion_matrix.png", table, names)
    known = curves(dataset, detections)
    rows = [["class", "confidence", "precision", "recall", "f1"]]
    for name, own in known.items():
        columns = zip(CONFIDENCES, *own, strict=True)
        rows += [[name, *(f"{value:.4g}" for value in row)] for row in columns]
    _write_table(folder / "curves.csv", rows)
    _draw_class_curves(folder / "curves.png", known)


def _write_table(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def _figure(width, height):
    from matplotlib.figure import Figure  # half a second

    return Figure(figsize=(width, height), layout="constrained")


def _draw_confusion(path, table, names):
    """Draw counts in cells, darker for a larger share of what is labelled."""
    side = 3 + 0.5 * len(names)
    figure = _figure(side, side)
    axis = figure.subplots()
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    axis.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for (row, column), count in np.ndenumerate(table):
        if count:
            color = "w" if shares[row, column] > 0.5 else "k"
            axis.text(column, row, count, ha="center", va="center", color=color)
    axis.set_xticks(range(len(names)), names, rotation=90)
    axis.set_yticks(range(len(names)), names)
    axis.set(xlabel="found", ylabel="labelled")
    figure.savefig(path, dpi=110)


def _draw_class_curves(path, known):
    """Plot precision by recall, and F1 by confidence, of each class."""
    figure = _figure(11, 4.2)
    left, right = figure.subplots(1, 2)
    for name, (precision, recall, f1) in known.items():
        drawn = recall > 0  # above the highest score there is neither
        left.plot(recall[drawn], precision[drawn], label=name)
        right.plot(CONFIDENCES, f1, label=name)
    left.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02))
    right.set(xlabel="confidence", ylabel="F1", xlim=(0, 1), ylim=(0, 1.02))
    for axis in (left, right):
        axis.grid(alpha=0.3)
    right.legend(fontsize="small")
    figure.savefig(path, dpi=110)
