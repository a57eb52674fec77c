"""Support vector machines of ai.onnx.ml."""

from itertools import combinations, pairwise

import numpy as np

import pytensor.tensor as pt
from pytensor.link.onnx.extras.operators.ml import floats, label_output, rows, with_transform
from pytensor.link.onnx.importing.registry import ML, Refused, operator_funcify
from pytensor.link.onnx.importing.windows import like, total
from pytensor.scan.basic import scan
from pytensor.tensor.basic import cast


@operator_funcify.register("SVMRegressor", domain=ML)
def svm_regressor(node, x):
    n = node.attribute("n_supports", 0)
    coefficients, x = floats(node, "coefficients"), rows(x)
    if n:
        vectors = floats(node, "support_vectors").reshape(n, -1)
        scores = _kernel(node, x, vectors).dot(coefficients)[:, None]
    else:
        scores = _kernel(node, x, coefficients.reshape(1, -1))
    scores = scores + floats(node, "rho", [0])[:1]
    if node.attribute("one_class", 0):
        return cast(pt.switch(scores > 0, 1, -1), "float32")
    return cast(with_transform(scores, node.attribute("post_transform", "NONE")), "float32")


def _kernel(node, x, vectors):
    kind = node.attribute("kernel_type", "LINEAR")
    gamma, offset, degree = floats(node, "kernel_params", [0, 0, 0])
    if kind == "RBF":
        # Differences, because squares less products would lose digits
        return pt.exp(-gamma * total(pt.sqr(x[:, None] - vectors), (-1,)))
    products = x.dot(vectors.T)
    if kind == "LINEAR":
        return products
    if kind == "POLY":
        return (gamma * products + offset) ** degree
    if kind == "SIGMOID":
        return pt.tanh(gamma * products + offset)
    raise Refused(f"the kernel {kind!r}, which the standard doesn't have")


@operator_funcify.register("SVMClassifier", domain=ML)
def svm_classifier(node, x):
    labels = label_output(node, "classlabels_ints", "classlabels_strings")
    n, transform = labels.n_classes, node.attribute("post_transform", "NONE")
    counts, x = node.attribute("vectors_per_class", []), rows(x)
    if not sum(counts):
        if n <= 2:
            raise Refused(
                "it has two classes and no support vectors, of which runtimes compute different "
                "labels: write it as a LinearClassifier"
            )
        scores = x.dot(floats(node, "coefficients").reshape(n, -1).T) + floats(node, "rho")[0]
        return labels.of_scores(scores, transform)
    if len(counts) != n:
        raise Refused(f"vectors_per_class has {len(counts)} entries, and there are {n} classes")
    scores = _scores_of_pairs(node, x, counts)
    pairs = list(combinations(range(n), 2))
    # A pair's score is positive where its first class is the more likely one
    won = {pair: cast(scores[:, i] > 0, "int64") for i, pair in enumerate(pairs)}
    votes = [
        sum(won[pair] if pair[0] == c else np.int64(1) - won[pair] for pair in pairs if c in pair)
        for c in range(n)
    ]
    found = labels.of_positions(pt.argmax(pt.stack(votes, axis=1), axis=1))
    if node.has("prob_a"):
        steep, offset = floats(node, "prob_a"), floats(node, "prob_b")
        scores = _coupled(pt.sigmoid(-(scores * steep + offset)), n)
    elif n == 2:
        if transform != "NONE":
            raise Refused(
                f"the post_transform {transform!r} of one score for two classes, which runtimes "
                f"compute differently: write probabilities (prob_a, prob_b)"
            )
        scores = pt.concatenate([-scores, scores], axis=1)
    return found, cast(with_transform(scores, transform), "float32")


def _scores_of_pairs(node, x, counts):
    """Return the decision function of each pair of classes: (rows, pairs)."""
    ends = np.cumsum([0, *counts])
    parts = [slice(a, b) for a, b in pairwise(ends)]
    n_vectors, pairs = int(ends[-1]), list(combinations(range(len(counts)), 2))
    # A vector of class i has a coefficient for each of the other classes, in their order
    coefficients = floats(node, "coefficients").reshape(len(counts) - 1, n_vectors)
    weights = np.zeros((n_vectors, len(pairs)), "float32")
    for column, (i, j) in enumerate(pairs):
        weights[parts[i], column] = coefficients[j - 1, parts[i]]
        weights[parts[j], column] = coefficients[i, parts[j]]
    kernels = _kernel(node, x, floats(node, "support_vectors").reshape(n_vectors, -1))
    return kernels.dot(weights) + floats(node, "rho")[: len(pairs)]


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
