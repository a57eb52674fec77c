"""The catalogue of `pt.nn`'s functions that are formulas of PyTensor's own Ops, in small graphs.

They have rows in the table of what runs where.  Their Ops have rules and tests of their own, so the
tests of our Ops take no graphs from here.
"""

import numpy as np

import pytensor.tensor as pt
from tests.catalogue.examples import (
    Example,
    always,
    image,
    numbers,
    parameter,
    positive,
    unknown,
    wide,
)

FORMULAS: dict[str, Example] = {}


def formula(name, build, *inputs):
    FORMULAS[name] = Example(name, build, inputs, row=True)


def probabilities(rng, shape, dtype):
    return (0.1 + 0.8 / (1 + np.exp(-numbers(rng, shape, dtype)))).astype(dtype)


def signs(rng, shape, dtype):
    return np.where(numbers(rng, shape, "float64") > 0, 1, -1).astype("int64")


def integers(*shape, below):
    def draw(rng, shape, dtype):
        return rng.integers(below, size=shape)

    return unknown(*shape, draw=draw)


# Activations

WIDE = unknown(3, 6, draw=wide)
for name in ("sigmoid", "logsigmoid", "tanh", "hardtanh", "celu", "softshrink", "hardshrink"):
    formula(name, getattr(pt.nn, name), WIDE)
formula("softplus", lambda x: pt.nn.softplus(x, 2, 3), WIDE)
formula("tanhshrink", pt.nn.tanhshrink, WIDE)
formula("threshold", lambda x: pt.nn.threshold(x, 0.3, -2), WIDE)
formula("glu", lambda x: pt.nn.glu(x, 1), WIDE)
formula("softmax", lambda x: pt.nn.softmax(x, 1), WIDE)
formula("log_softmax", lambda x: pt.nn.log_softmax(x, 1), WIDE)
formula("softmin", lambda x: pt.nn.softmin(x, 1), WIDE)

# Linear maps and tables

formula("linear", pt.nn.linear, unknown(2, 3, 4), parameter(5, 4), parameter(5))
formula("bilinear", pt.nn.bilinear, unknown(3, 2), unknown(3, 4), parameter(2, 2, 4), parameter(2))
ROWS_OF_TABLE = integers(2, 3, below=5)
formula("embedding", lambda x, w: pt.nn.embedding(x, w, 1), ROWS_OF_TABLE, parameter(5, 3))
formula(
    "one_hot",
    lambda x, w: pt.cast(pt.nn.one_hot(x, 5), w.dtype) @ w,
    ROWS_OF_TABLE,
    parameter(5, 3),
)


def dropped_and_restored(x):
    """Return what doesn't depend on the draws: dropped entries become what kept ones are."""
    out = pt.nn.dropout(x, 0.25, rng=pt.random.shared_rng(seed=0))
    restored = x / np.asarray(0.75, dtype=x.dtype)
    return pt.switch(pt.eq(pt.cast(out, "float32"), np.float32(0)), restored, out)


formula("dropout", dropped_and_restored, unknown(4, 5))

# Losses

PAIR = [unknown(4, 3), unknown(4, 3)]
for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
    formula(name, getattr(pt.nn, name), *PAIR)
SIGNS = unknown(4, 3, draw=signs)
formula("soft_margin_loss", pt.nn.soft_margin_loss, unknown(4, 3), SIGNS)
LOGITS, CLASSES = image(4, 3, 2), integers(4, 2, below=3)
formula(
    "cross_entropy",
    lambda x, target, w: pt.nn.cross_entropy(x, target, w, ignore_index=2, label_smoothing=0.1),
    *(LOGITS, CLASSES, parameter(3, draw=positive)),
)
formula("cross_entropy, probabilities", pt.nn.cross_entropy, LOGITS, image(4, 3, 2))
formula("nll_loss", pt.nn.nll_loss, LOGITS, CLASSES)
formula("multi_margin_loss", pt.nn.multi_margin_loss, unknown(4, 3), integers(4, below=3))
P = unknown(4, 3, draw=probabilities)
formula("binary_cross_entropy", pt.nn.binary_cross_entropy, P, P)
formula(
    "binary_cross_entropy_with_logits",
    lambda x, target, w: pt.nn.binary_cross_entropy_with_logits(x, target, pos_weight=w),
    *(*PAIR, parameter(3, draw=positive)),
)
formula("multilabel_soft_margin_loss", pt.nn.multilabel_soft_margin_loss, *PAIR)
formula(
    "kl_div", lambda x, target: pt.nn.kl_div(x, target, reduction="batchmean"), unknown(4, 3), P
)
formula("poisson_nll_loss", pt.nn.poisson_nll_loss, unknown(4, 3), P)
formula("gaussian_nll_loss", pt.nn.gaussian_nll_loss, *PAIR, P)
formula(
    "cosine_embedding_loss",
    lambda x1, x2, target: pt.nn.cosine_embedding_loss(x1, x2, target, 0.1),
    *(*PAIR, unknown(4, draw=signs)),
)
formula(
    "margin_ranking_loss",
    lambda x1, x2, target: pt.nn.margin_ranking_loss(x1, x2, target, 0.5),
    *(*PAIR, SIGNS),
)
formula("hinge_embedding_loss", pt.nn.hinge_embedding_loss, unknown(4, 3), SIGNS)
formula(
    "triplet_margin_loss",
    lambda *points: pt.nn.triplet_margin_loss(*points, swap=True),
    *(*PAIR, unknown(4, 3)),
)
FRAMES = unknown(5, 2, 4)
LABELS = [unknown(2, 2, draw=always([[1, 2], [3, 0]], "int64"))]
LABELS += [unknown(2, draw=always(n, "int64")) for n in ([5, 4], [2, 1])]
formula(
    "ctc_loss", lambda x, *labels: pt.nn.ctc_loss(pt.nn.log_softmax(x, 2), *labels), FRAMES, *LABELS
)

# Distances

formula("cosine_similarity", pt.nn.cosine_similarity, *PAIR)
formula("pairwise_distance", pt.nn.pairwise_distance, *PAIR)
formula("normalize", pt.nn.normalize, PAIR[0])

# Images

IMAGE = image(2, 4, 3, 5)
for mode in ("constant", "reflect", "replicate", "circular"):
    formula(f"pad, {mode}", lambda x, m=mode: pt.nn.pad(x, (1, 2, 0, 1), m), IMAGE)
formula("pixel_shuffle", lambda x: pt.nn.pixel_shuffle(x, 2), IMAGE)
formula("pixel_unshuffle", lambda x: pt.nn.pixel_unshuffle(x, 2), image(2, 2, 4, 6))
formula("local_response_norm", lambda x: pt.nn.local_response_norm(x, 3, 1.0), IMAGE)
SLIDING = {"kernel_size": 2, "dilation": (1, 2), "padding": (0, 1), "stride": (1, 2)}
formula("unfold", lambda x: pt.nn.unfold(x, **SLIDING), IMAGE)
formula("fold", lambda x: pt.nn.fold(x, (3, 5), **SLIDING), image(2, 8, 6))
formula("affine_grid", lambda t: pt.nn.affine_grid(t, (2, 1, 3, 2)), parameter(2, 2, 3))
formula("grid_sample", pt.nn.grid_sample, IMAGE, parameter(2, 2, 3, 2))

# Attention

HEADS = [unknown(2, 2, 3, 4), unknown(2, 2, 5, 4), unknown(2, 2, 5, 2)]
formula(
    "scaled_dot_product_attention",
    lambda *inputs: pt.nn.scaled_dot_product_attention(*inputs, is_causal=True),
    *HEADS,
)
