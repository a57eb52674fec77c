"""Pictures of handwritten digits: MNIST from its files, or the small set of scikit-learn."""

import gzip
from pathlib import Path
from urllib.request import urlopen

import numpy as np


def read_idx(place, name):
    """Read an array of bytes in MNIST's format, plain or compressed, from a folder or URL."""
    if "://" in place:
        with urlopen(f"{place.rstrip('/')}/{name}.gz") as response:
            data = response.read()
    else:
        found = sorted(Path(place).glob(f"{name}*"))
        if not found:
            raise FileNotFoundError(f"{place} has neither {name} nor {name}.gz")
        data = found[0].read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    # Two zeros, 8 for bytes, the number of axes; then each axis's length, and the values
    if data[:3] != b"\0\0\x08":
        raise ValueError(f"{name} of {place} isn't an idx file of bytes")
    shape = np.frombuffer(data, ">i4", count=data[3], offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


def load(mnist=None):
    """Return images (n, 1, side, side) in 0..1, float32, and labels, each of training and test."""
    if mnist:
        parts = ("train", "t10k")
        images = [read_idx(mnist, f"{part}-images-idx3-ubyte") / 255 for part in parts]
        labels = [read_idx(mnist, f"{part}-labels-idx1-ubyte") for part in parts]
    else:
        from sklearn.datasets import load_digits

        images, labels = load_digits(return_X_y=True)
        order = np.random.default_rng(0).permutation(len(images))
        images, labels = images[order].reshape(-1, 8, 8) / 16, labels[order]
        images, labels = np.split(images, [1400]), np.split(labels, [1400])
    images = [part[:, None].astype("float32") for part in images]
    return images, [part.astype("int32") for part in labels]


def accuracy(scores, images, labels, size=500):
    """Return how large a part of `images` has its highest score for its label."""
    parts = np.split(images, range(size, len(images), size))
    classes = np.concatenate([scores(part).argmax(axis=1) for part in parts])
    return np.mean(classes == labels)
