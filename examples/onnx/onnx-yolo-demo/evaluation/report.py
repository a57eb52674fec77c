"""Pictures of a training run and of an evaluation."""

import warnings

import matplotlib
import numpy as np
from data.images import to_corners
from evaluation.metrics import CONFIDENCES
from utils import draw_detections, image_mosaic, save_png

matplotlib.use("Agg")
import matplotlib.pyplot as plt

NAMED_CLASSES = 12  # more curves than this stay unnamed
NUMBERED_CELLS = 21  # a larger confusion matrix has colours alone


def draw_curves(path, rows):
    """Plot losses, precision and learning rate over the epochs.

    Parameters
    ----------
    path : path-like
    rows : list of dict
        One per epoch, as in results.csv; None where there was no validation.
    """
    epochs = [row["epoch"] for row in rows]
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
    for name in ("box_loss", "cls_loss", "dfl_loss"):
        axes[0].plot(epochs, [row[name] for row in rows], label=name)
    axes[0].set_title("training loss")
    validated = [row for row in rows if row["map50"] is not None]
    for name, label in [("map50", "mAP@0.5"), ("map50_95", "mAP@0.5:0.95")]:
        x, y = [row["epoch"] for row in validated], [row[name] for row in validated]
        axes[1].plot(x, y, "o-", label=label)
    axes[1].set(title="validation", ylim=(0, 1))
    axes[2].plot(epochs, [row["lr"] for row in rows], label="learning rate")
    axes[2].set_title("learning rate")
    for axis in axes:
        axis.set_xlabel("epoch")
        axis.grid(alpha=0.3)
        axis.legend()
    _save(figure, path, 110)


def draw_validation(path, dataset, detections, class_names, count=12, confidence=0.25):
    """Draw detections on images spread evenly over a validation set.

    Parameters
    ----------
    detections : dict of int to array (n, 6), in pixels of the original picture
    confidence : float
        Detections below aren't drawn.
    """
    chosen = np.unique(np.linspace(0, len(dataset) - 1, min(count, len(dataset))).astype(int))
    pictures = []
    for index in chosen:
        found = detections[dataset.image_ids[index]]
        found = found[found[:, 4] >= confidence]
        image = dataset.picture(index)
        pictures.append(draw_detections(image, found, class_names))
    save_png(path, image_mosaic(pictures, columns=4))


def _save(figure, path, dpi):
    """Write a figure and close it; boxes stand for letters that its font lacks."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(path, dpi=dpi)
    plt.close(figure)


def _plain(text):
    """Text that matplotlib shows as it is: dollar signs are no formula, no legend entry is lost."""
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def _draw_class_curves(axis, x, curves, names, labels):
    """Plot a curve per class and their mean, ignoring those that are NaN throughout."""
    known = ~np.isnan(curves).all(axis=1)
    few = known.sum() <= NAMED_CLASSES
    for k in np.flatnonzero(known):
        label = _plain(f"{names[k]} {labels[k]}")
        style = {"label": label} if few else {"color": "grey", "alpha": 0.4}
        axis.plot(x, curves[k], linewidth=1, **style)
    axis.plot(x, curves[known].mean(axis=0), color="black", linewidth=2, label="mean")
    axis.set(xlim=(0, 1), ylim=(0, 1.02))
    axis.grid(alpha=0.3)


def draw_precision_recall(path, curves, class_names, ap50):
    """Plot precision against recall at IoU 0.5.

    Parameters
    ----------
    path : path-like
    curves : metrics.Curves
    class_names : sequence of str
    ap50 : sequence of float
        Of each class, for the legend; NaN without ground truth.
    """
    figure, axis = plt.subplots(figsize=(6.4, 5), layout="constrained")
    labels = [f"{value:.3f}" for value in ap50]
    _draw_class_curves(axis, CONFIDENCES, curves.precision_at_recall, class_names, labels)
    axis.set(xlabel="recall", ylabel="precision")
    axis.set_title(f"precision and recall at IoU 0.5, mAP {np.nanmean(ap50):.3f}")
    axis.legend(loc="lower left")
    _save(figure, path, 110)


def draw_confidence_curves(path, curves, class_names):
    """Plot F1, precision and recall at IoU 0.5 against the confidence.

    Parameters
    ----------
    path : path-like
    curves : metrics.Curves
    class_names : sequence of str
    """
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.2), layout="constrained")
    for axis, title in zip(axes, ("F1", "precision", "recall"), strict=True):
        values = getattr(curves, title.lower())
        best = values[:, curves.best]
        labels = [f"{value:.3f}" for value in best]
        _draw_class_curves(axis, CONFIDENCES, values, class_names, labels)
        axis.axvline(curves.best_confidence, color="black", linestyle=":", linewidth=1)
        axis.set(title=f"{title}, {np.nanmean(best):.3f} on average", xlabel="confidence")
        axis.legend(title=f"at {curves.best_confidence:.3f}")
    _save(figure, path, 110)


def draw_confusion_matrix(path, counts, class_names):
    """Draw a confusion matrix as counts, and as shares of each column.

    Parameters
    ----------
    path : path-like
    counts : int array, (num_classes + 1, num_classes + 1)
        Row: predicted class; column: true class; the background is last.
    class_names : sequence of str
    """
    names = [*map(_plain, class_names), "background"]
    totals = counts.sum(axis=0, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros(counts.shape), where=totals > 0)
    side = min(max(3.5 + 0.35 * len(names), 4.4), 16)
    figure, axes = plt.subplots(1, 2, figsize=(2 * side + 0.6, side), layout="constrained")
    for axis, values, largest, form, title in [
        (axes[0], counts, max(counts.max(), 1), "d", "objects"),
        (axes[1], shares, 1, ".2f", "share of the true class"),
    ]:
        picture = axis.imshow(values, cmap="Blues", vmin=0, vmax=largest)
        figure.colorbar(picture, ax=axis, shrink=0.75)
        ticks = range(len(names))
        axis.set_xticks(ticks, names, rotation=45 if len(names) < 8 else 90, ha="center")
        axis.set_yticks(ticks, names)
        axis.set(xlabel="true class", ylabel="predicted class", title=title)
        if len(names) <= NUMBERED_CELLS:
            for (i, j), value in np.ndenumerate(values):
                ink = "white" if value > largest / 2 else "black"
                if value or len(names) < 8:
                    axis.text(j, i, format(value, form), ha="center", va="center", color=ink)
    _save(figure, path, 110)


def draw_worst_images(path, dataset, detections, mistakes, confidence, count):
    """Draw the images with the most mistakes: ground truth on the left, detections on the right.

    Parameters
    ----------
    path : path-like
        Removed where no image has a mistake.
    dataset : CocoDataset
    detections : dict of int to array (n, 6), in pixels of the original picture
    mistakes : dict of int to (int, int)
        By image id, missed objects and false alarms; of `DetectionMetrics.mistakes`.
    confidence : float
        Detections below aren't drawn.
    count : int
        Images drawn at most.
    """
    index_of = {image_id: k for k, image_id in enumerate(dataset.image_ids)}
    worst = sorted(mistakes, key=lambda i: (-sum(mistakes[i]), index_of[i]))[:count]
    worst = [image_id for image_id in worst if sum(mistakes[image_id])]
    if not worst:
        path.unlink(missing_ok=True)  # that of an earlier evaluation
        return
    figure, axes = plt.subplots(
        len(worst), 2, figsize=(11, 4 * len(worst)), layout="constrained", squeeze=False
    )
    for (left, right), image_id in zip(axes, worst, strict=True):
        index = index_of[image_id]
        image = dataset.picture(index)
        sample, found = dataset[index], detections[image_id]
        corners = sample.geometry.undo(to_corners(sample.boxes, dataset.image_size))
        truth = np.column_stack([corners, sample.classes])
        found = found[found[:, 4] >= confidence]
        left.imshow(draw_detections(image, truth, dataset.classes))
        right.imshow(draw_detections(image, found, dataset.classes))
        missed, wrong = mistakes[image_id]
        name = _plain(dataset.file_name(index))
        left.set_title(f"{name}: {len(truth)} objects", fontsize=10)
        right.set_title(f"{missed} missed, {wrong} false at {confidence:.2f}", fontsize=10)
        left.axis("off")
        right.axis("off")
    _save(figure, path, 90)
