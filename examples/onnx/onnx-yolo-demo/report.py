"""Pictures of a training run."""

import matplotlib
import numpy as np
from images import read_image
from utils import draw_detections, image_mosaic, save_png

matplotlib.use("Agg")
import matplotlib.pyplot as plt


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
    figure.savefig(path, dpi=110)
    plt.close(figure)


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
        image = read_image(dataset.image_dir / dataset.file_name(index))
        pictures.append(draw_detections(image, found, class_names))
    save_png(path, image_mosaic(pictures, columns=4))
