"""Support vector machines of ai.onnx.ml."""

from itertools import combinations, pairwise
from typing import Literal

import numpy as np

import pytensor.tensor as pt
from pytensor.link.onnx.contrib.ml.linear import (
    Transform,
    floats,
    label_output,
    rows,
    with_transform,
)
from pytensor.link.onnx.importing.registry import (
    ML,
    Refused,
    attributes_of,
    must_have,
    operator_funcify,
)
from pytensor.link.onnx.importing.sizes import like
from pytensor.scan.basic import scan
from pytensor.tensor.basic import cast
from pytensor.tensor.moments import total


def _kernel(
    x,
    vectors,
    *,
    kernel_params=(0.0, 0.0, 0.0),
    kernel_type: Literal["LINEAR", "POLY", "RBF", "SIGMOID"] = "LINEAR",
):
    gamma, offset, degree = floats(kernel_params)
    if kernel_type == "RBF":
        # Differences, because squares less products would lose digits
        return pt.exp(-gamma * total(pt.sqr(x[:, None] - vectors), (-1,)))
    products = x.dot(vectors.T)
    if kernel_type == "LINEAR":
        return products
    if kernel_type == "POLY":
        return (gamma * products + offset) ** degree
    return pt.tanh(gamma * products + offset)


@operator_funcify.register("SVMRegressor", domain=ML)
@attributes_of(_kernel)
def svm_regressor(
    x, *, coefficients, n_supports=0, one_class=0, post_transform: Transform = "NONE",
    rho=(0.0,), support_vectors=(), **kernel,
):  # fmt: skip
    coefficients, x = floats(coefficients), rows(x)
    if n_supports:
        vectors = floats(support_vectors).reshape(n_supports, -1)
        scores = _kernel(x, vectors, **kernel).dot(coefficients)[:, None]
    else:
        scores = x.dot(coefficients)[:, None]  # whatever the kernel is
    scores = scores + floats(rho)[:1]
    if one_class:
        return cast(pt.switch(scores > 0, 1, -1), "float32")
    return cast(with_transform(scores, post_transform), "float32")


@operator_funcify.register("SVMClassifier", domain=ML)
@attributes_of(_kernel)
def svm_classifier(
    node, x, *, classlabels_ints=None, classlabels_strings=None, coefficients,
    post_transform: Transform = "NONE", prob_a=None, prob_b=None, rho, support_vectors=(),
    vectors_per_class=(), **kernel,
):  # fmt: skip
    labels = label_output(node, classlabels_strings, classlabels_ints=classlabels_ints)
    n, counts, x = labels.n_classes, vectors_per_class, rows(x)
    if not sum(counts):
        if n <= 2:
            raise Refused(
                "it has two classes and no support vectors, of which runtimes compute different "
                "labels: write it as a LinearClassifier"
            )
        scores = x.dot(floats(coefficients).reshape(n, -1).T) + floats(rho)[0]
        return labels.of_scores(scores, post_transform)
    if len(counts) != n:
        raise Refused(f"vectors_per_class has {len(counts)} entries, and there are {n} classes")
    # A vector of class i has a coefficient for each of the other classes, in their order
    weights = _weights_of_pairs(floats(coefficients).reshape(n - 1, sum(counts)), counts)
    vectors = floats(support_vectors).reshape(sum(counts), -1)
    _must_have_entries(weights.shape[1], rho=rho, prob_a=prob_a, prob_b=prob_b)
    # The decision function of each pair of classes: (rows, pairs)
    scores = _kernel(x, vectors, **kernel).dot(weights) + floats(rho)[: weights.shape[1]]
    pairs = list(combinations(range(n), 2))
    # A pair's score is positive where its first class is the more likely one
    won = {pair: cast(scores[:, i] > 0, "int64") for i, pair in enumerate(pairs)}
    votes = [
        sum(won[pair] if pair[0] == c else np.int64(1) - won[pair] for pair in pairs if c in pair)
        for c in range(n)
    ]
    found = labels.of_positions(pt.argmax(pt.stack(votes, axis=1), axis=1))
    if prob_a is not None:
        must_have(prob_b=prob_b)
        scores = _coupled(pt.sigmoid(-(scores * floats(prob_a) + floats(prob_b))), n)
    elif n == 2:
        if post_transform != "NONE":
            raise Refused(
                f"the post_transform {post_transform!r} of one score for two classes, which "
                f"runtimes compute differently: write probabilities (prob_a, prob_b)"
            )
        scores = pt.concatenate([-scores, scores], axis=1)
    return found, cast(with_transform(scores, post_transform), "float32")


def _must_have_entries(n_pairs, **lists):
    """Refuse a list without an entry for each pair of classes; one would serve all of them."""
    for name, values in lists.items():
        if values is not None and len(values) < n_pairs:
            raise Refused(f"its {name} has {len(values)} entries, and there are {n_pairs} pairs")


def _weights_of_pairs(coefficients, counts):
    """Return each vector's weight in the decision of each pair of classes: (vectors, pairs)."""
    ends = np.cumsum([0, *counts])
    parts = [slice(a, b) for a, b in pairwise(ends)]
    pairs = list(combinations(range(len(counts)), 2))
    weights = np.zeros((int(ends[-1]), len(pairs)), "float32")
    for column, (i, j) in enumerate(pairs):
        weights[parts[i], column] = coefficients[j - 1, parts[i]]
        weights[parts[j], column] = coefficients[i, parts[j]]
    return weights


def _coupled(probabilities, n):
    """Return probabilities (rows, classes) from the first class's of each pair: (rows, pairs).

    Wu, Lin and Weng, "Probability estimates for multi-class classification by pairwise coupling",
    2004, algorithm 2, with LIBSVM's bounds, iterations and criterion, at which a row stops.
    """
    tiny, one = like(probabilities, 1e-7), like(probabilities, 1)
    probabilities = pt.clip(probabilities, tiny, one - tiny)
    columns = {pair: probabilities[:, i] for i, pair in enumerate(combinations(range(n), 2))}
    columns |= {(j, i): one - p for (i, j), p in columns.items()}
    matrix = pt.stack(
        [
            pt.stack(
                [
                    sum(columns[s, t] ** 2 for s in range(n) if s != t)
                    if t == u
                    else -columns[t, u] * columns[u, t]
                    for u in range(n)
                ],
                axis=1,
            )
            for t in range(n)
        ],
        axis=1,
    )

    def products(p):
        each = total(matrix * p[:, None], (-1,))
        return each, total(each * p, (-1,), keepdims=True)

    def step(p):
        each, whole = products(p)
        stays = pt.max(abs(each - whole), axis=1, keepdims=True) < like(p, 0.005 / n)
        new = p
        for t in range(n):
            each, whole = products(new)
            change = (whole - each[:, t : t + 1]) / matrix[:, t, t][:, None]
            new = (new + change * np.eye(n, dtype=p.type.dtype)[t]) / (one + change)
        return pt.switch(stays, p, new)

    start = pt.full_like(pt.stack([probabilities[:, 0]] * n, axis=1), like(probabilities, 1 / n))
    return scan(step, outputs_info=[start], n_steps=max(100, n), return_updates=False)[-1]
