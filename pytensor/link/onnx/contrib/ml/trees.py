"""Ensembles of decision trees: all rows and trees at once, one level of the trees at a time."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

import pytensor.tensor as pt
from pytensor.link.onnx.contrib.ml.linear import (
    TRANSFORMS,
    Transform,
    label_output,
    with_transform,
)
from pytensor.link.onnx.importing.registry import (
    ML,
    Refused,
    attributes_of,
    must_have,
    operator_funcify,
)
from pytensor.scan.basic import scan
from pytensor.tensor.basic import as_tensor_variable, cast

COMPARISONS = {
    "BRANCH_LEQ": pt.le,
    "BRANCH_LT": pt.lt,
    "BRANCH_GTE": pt.ge,
    "BRANCH_GT": pt.gt,
    "BRANCH_EQ": pt.eq,
    "BRANCH_NEQ": pt.neq,
}
MODES = [*COMPARISONS, "BRANCH_MEMBER", "LEAF"]  # by TreeEnsemble's numbers
LEAF = MODES.index("LEAF")
AGGREGATES = ["AVERAGE", "SUM", "MIN", "MAX"]


@dataclass
class Forest:
    """Trees as arrays with an entry for each node; leaves are their own children.

    `votes` has a row for each node and a column for each target, `voted` says which there are.
    `members` has the values that a node of mode BRANCH_MEMBER looks for, filled up with NaN.
    """

    roots: np.ndarray
    features: np.ndarray
    thresholds: np.ndarray
    modes: np.ndarray
    when_true: np.ndarray
    when_false: np.ndarray
    nan_is_true: np.ndarray
    votes: np.ndarray
    voted: np.ndarray
    members: np.ndarray | None = None

    def __post_init__(self) -> None:
        n = len(self.modes)
        parts = (self.features, self.thresholds, self.when_true, self.when_false, self.nan_is_true)
        if {*map(len, parts)} != {n}:
            raise Refused("its attributes nodes_* have different numbers of entries")
        if n and min(self.features) < 0:
            raise Refused(f"nodes_featureids has {min(self.features)}, which is no feature")

    def depth(self) -> int:
        """Return the most comparisons on the way from a root to a leaf."""
        nodes, depth = np.unique(self.roots), 0
        while (inner := nodes[self.modes[nodes] != LEAF]).size:
            nodes = np.unique([self.when_true[inner], self.when_false[inner]])
            depth += 1
            if depth > len(self.modes):
                raise Refused("a tree's branches lead back to it")
        return depth

    def leaves(self, x):
        """Return the leaf of each tree for each row of `x`, as an array (rows, trees)."""
        rows = pt.arange(x.shape[0])[:, None]
        dtype = x.type.dtype if x.type.dtype.startswith("float") else "float64"
        dtype = np.promote_types(dtype, self.thresholds.dtype).name
        x = cast(x, dtype)
        tables = {
            "thresholds": self.thresholds.astype(dtype),
            "members": None if self.members is None else self.members.astype(dtype),
        }

        def step(nodes, x, rows):
            values = x[rows, as_tensor_variable(self.features)[nodes]]
            holds = self._holds(nodes, values, **tables)
            return pt.switch(
                holds,
                as_tensor_variable(self.when_true)[nodes],
                as_tensor_variable(self.when_false)[nodes],
            )

        start = pt.zeros_like(rows) + self.roots
        depth = self.depth()
        if depth == 0:
            return start
        # What `x` is computed from isn't computed again at each depth
        return scan(
            step,
            outputs_info=[start],
            non_sequences=[x, rows],
            n_steps=depth,
            return_updates=False,
        )[-1]

    def _holds(self, nodes, values, thresholds, members):
        """Return whether each node's comparison is true."""
        modes = [m for m in np.unique(self.modes) if m != LEAF]
        holds = None
        for mode in modes:
            if MODES[mode] in COMPARISONS:
                threshold = as_tensor_variable(thresholds)[nodes]
                compared = COMPARISONS[MODES[mode]](values, threshold)
            else:
                compared = pt.eq(values[..., None], as_tensor_variable(members)[nodes]).any(axis=-1)
            here = pt.eq(as_tensor_variable(self.modes)[nodes], mode)
            holds = compared if holds is None else pt.switch(here, compared, holds)
        if self.nan_is_true.any():
            holds = holds | (as_tensor_variable(self.nan_is_true)[nodes] & pt.isnan(values))
        return holds

    def scores(self, x, aggregate="SUM"):
        """Return what the trees say of each target, as an array (rows, targets)."""
        leaves = self.leaves(x)
        votes, voted = as_tensor_variable(self.votes)[leaves], self.voted
        if aggregate in ("SUM", "AVERAGE"):
            dtype = votes.type.dtype
            result = votes.sum(axis=1, dtype=dtype, acc_dtype=dtype)
            if aggregate == "AVERAGE":
                result = result / np.asarray(len(self.roots), dtype=dtype)
            return result
        voted = as_tensor_variable(voted)[leaves]
        extreme, worst = (pt.min, np.inf) if aggregate == "MIN" else (pt.max, -np.inf)
        worst = np.asarray(worst, dtype=self.votes.dtype)
        result = extreme(pt.switch(voted, votes, worst), axis=1)
        return pt.switch(voted.any(axis=1), result, np.asarray(0, dtype=self.votes.dtype))


def _numbers(doubles, length=None, **floats):
    """Return the values of an attribute, which may be a tensor of doubles instead of floats."""
    ((name, values),) = floats.items()
    if doubles is not None:
        values = doubles
    must_have(**{name: values})
    values = np.asarray(values, dtype=None if values is doubles else "float32")
    return values if length is None else _entries(length, **{name: values})


def _entries(length, **attribute):
    """Return the values of an attribute, which must have `length` of them."""
    ((name, values),) = attribute.items()
    if len(values) != length:
        raise Refused(f"{name} has {len(values)} entries, and should have {length}")
    return values


def _votes(n_nodes, n_targets, nodes, targets, weights, aggregate):
    """Return each target's sum (or least, or most) of a leaf's weights, and which there are."""
    if len(targets) and not 0 <= min(targets) <= max(targets) < n_targets:
        raise Refused(f"weights for targets {min(targets)} to {max(targets)} of {n_targets}")
    combine, start = {"MIN": (np.minimum, np.inf), "MAX": (np.maximum, -np.inf)}.get(
        aggregate, (np.add, 0)
    )
    votes = np.full((n_nodes, n_targets), start, dtype=weights.dtype)
    combine.at(votes, (nodes, targets), weights)
    voted = np.zeros(votes.shape, dtype=bool)
    voted[nodes, targets] = True
    return np.where(voted, votes, 0).astype(weights.dtype), voted


def _old_forest(
    leaves, n_targets, aggregate="SUM", *, nodes_falsenodeids, nodes_featureids,
    nodes_hitrates=None, nodes_hitrates_as_tensor=None, nodes_missing_value_tracks_true=(),
    nodes_modes, nodes_nodeids, nodes_treeids, nodes_truenodeids, nodes_values=None,
    nodes_values_as_tensor=None,
):  # fmt: skip
    """Read the trees of TreeEnsembleRegressor or TreeEnsembleClassifier.

    `leaves` are lists: trees, nodes in them, and for which target each has which weight.
    """
    modes = [MODES.index(m) if m in MODES else -1 for m in nodes_modes]
    if -1 in modes:
        raise Refused(f"a node's mode isn't one of {MODES}")
    modes, n = np.asarray(modes), len(modes)
    trees = nodes_treeids
    position = {key: i for i, key in enumerate(zip(trees, nodes_nodeids, strict=True))}
    if len(position) != n:
        raise Refused("two nodes of a tree have one id")

    def positions(tree_ids, node_ids):
        try:
            keys = zip(tree_ids, node_ids, strict=True)
            return np.asarray([position[key] for key in keys], dtype="int64")
        except KeyError as error:
            raise Refused(f"there is no node {error} (tree, node)") from error

    leaf = modes == LEAF
    inner = np.flatnonzero(~leaf)
    children = []
    for named in (nodes_truenodeids, nodes_falsenodeids):
        child = np.arange(n)
        child[inner] = positions([trees[i] for i in inner], [named[i] for i in inner])
        children.append(child)
    is_child = np.zeros(n, dtype=bool)
    for child in children:
        is_child[child[inner]] = True
    roots = np.flatnonzero(~is_child)
    if sorted(trees[i] for i in roots) != sorted(set(trees)):
        raise Refused("a tree has no root, or several")
    *places, targets, weights = leaves
    if len({*map(len, leaves)}) > 1:
        raise Refused("the attributes that say what leaves vote have different numbers of entries")
    votes, targets = positions(*places), np.asarray(targets, dtype="int64")
    return Forest(
        roots,
        np.where(leaf, 0, _entries(n, nodes_featureids=nodes_featureids)),
        _numbers(nodes_values_as_tensor, n, nodes_values=nodes_values),
        modes,
        *children,
        np.asarray(nodes_missing_value_tracks_true or [0] * n, dtype=bool),
        *_votes(n, n_targets, votes, targets, weights, aggregate),
    )


@operator_funcify.register("TreeEnsembleRegressor", domain=ML)
@attributes_of(_old_forest)
def tree_ensemble_regressor(
    x, *, aggregate_function: Literal[*AGGREGATES] = "SUM", base_values=None,
    base_values_as_tensor=None, n_targets, post_transform: Transform = "NONE", target_ids,
    target_nodeids, target_treeids, target_weights=None, target_weights_as_tensor=None, **nodes,
):  # fmt: skip
    weights = _numbers(target_weights_as_tensor, target_weights=target_weights)
    leaves = target_treeids, target_nodeids, target_ids, weights
    forest = _in_double(_old_forest(leaves, n_targets, aggregate_function, **nodes), x)
    scores = forest.scores(x, aggregate_function)
    scores = _with_base(scores, base_values, base_values_as_tensor, n_targets)
    return cast(with_transform(scores, post_transform), "float32")


def _with_base(scores, floats, doubles, n_scores):
    if floats is None and doubles is None:
        return scores
    base = _numbers(doubles, n_scores, base_values=floats)
    return scores + base.astype(scores.type.dtype)


def _in_double(forest, x):
    """Return the forest, which sums up in double precision where its input has that."""
    if x.type.dtype == "float64":
        forest.votes = forest.votes.astype("float64")
    return forest


@operator_funcify.register("TreeEnsembleClassifier", domain=ML)
@attributes_of(_old_forest)
def tree_ensemble_classifier(
    node, x, *, base_values=None, base_values_as_tensor=None, class_ids, class_nodeids,
    class_treeids, class_weights=None, class_weights_as_tensor=None, classlabels_int64s=None,
    classlabels_strings=None, post_transform: Transform = "NONE", **nodes,
):  # fmt: skip
    labels = label_output(node, classlabels_strings, classlabels_int64s=classlabels_int64s)
    n_classes, voted = labels.n_classes, set(class_ids)
    one_score = n_classes == 2 and voted == {0}
    if n_classes == 2 and voted == {1}:
        raise Refused("no leaf votes for the first of two classes; runtimes differ about that")
    n_scores = 1 if one_score else n_classes
    weights = _numbers(class_weights_as_tensor, class_weights=class_weights)
    leaves = class_treeids, class_nodeids, class_ids, weights
    forest = _in_double(_old_forest(leaves, n_scores, **nodes), x)
    scores = _with_base(forest.scores(x), base_values, base_values_as_tensor, n_scores)
    if one_score:
        return labels.of_one_score(scores, post_transform, bool((forest.votes >= 0).all()))
    return labels.of_scores(scores, post_transform)


@operator_funcify.register("TreeEnsemble", domain=ML)
def tree_ensemble(
    x, *, aggregate_function=1, leaf_targetids, leaf_weights, membership_values=None, n_targets,
    nodes_falseleafs, nodes_falsenodeids, nodes_featureids, nodes_hitrates=None,
    nodes_missing_value_tracks_true=(), nodes_modes, nodes_splits, nodes_trueleafs,
    nodes_truenodeids, post_transform=0, tree_roots,
):  # fmt: skip
    for name, number, names in (
        ("aggregate_function", aggregate_function, AGGREGATES),
        ("post_transform", post_transform, TRANSFORMS),
    ):
        if not 0 <= number < len(names):
            raise Refused(f"its {name} is {number}; there are 0 to {len(names) - 1}")
    modes = nodes_modes.astype("int64")
    n, n_leaves = len(modes), len(leaf_targetids)
    if not all(0 <= m < LEAF for m in modes):
        raise Refused(f"a node's mode isn't one of {MODES[:LEAF]}")
    if len(leaf_weights) != n_leaves:
        raise Refused(f"it has {len(leaf_weights)} leaf_weights and {n_leaves} leaf_targetids")
    if not all(0 <= root < n for root in tree_roots):
        raise Refused(f"tree_roots has a number of no node: {list(tree_roots)}")
    itself = np.arange(n, n + n_leaves)

    def children(which, ids, leaf):
        ids, leaf = np.asarray(ids, dtype="int64"), np.asarray(leaf, dtype=bool)
        if ((ids < 0) | (ids >= np.where(leaf, n_leaves, n))).any():
            raise Refused(f"nodes_{which}nodeids has a number of no node or leaf")
        return np.concatenate([ids + n * leaf, itself])

    def extended(values, fill):
        return np.concatenate([values, np.full(n_leaves, fill, dtype=np.asarray(values).dtype)])

    aggregate = AGGREGATES[aggregate_function]
    missing = nodes_missing_value_tracks_true or [0] * n
    forest = Forest(
        np.asarray(tree_roots, dtype="int64"),
        extended(np.asarray(nodes_featureids, dtype="int64"), 0),
        extended(nodes_splits, 0),
        extended(modes, LEAF),
        children("true", nodes_truenodeids, nodes_trueleafs),
        children("false", nodes_falsenodeids, nodes_falseleafs),
        extended(np.asarray(missing, dtype=bool), False),
        *_votes(n + n_leaves, n_targets, itself, leaf_targetids, leaf_weights, aggregate),
        _members(membership_values, modes, n + n_leaves),
    )
    return with_transform(forest.scores(x, aggregate), TRANSFORMS[post_transform])


def _members(values, modes, n):
    """Return a row of values for each node, filled up with NaN, from sets that end with NaN."""
    nodes = np.flatnonzero(modes == MODES.index("BRANCH_MEMBER"))
    if not nodes.size:
        return None
    must_have(membership_values=values)
    sets = np.split(values, np.flatnonzero(np.isnan(values)) + 1)
    sets = [part for part in sets if part.size]
    if len(sets) != len(nodes):
        raise Refused(f"{len(sets)} sets of membership_values for {len(nodes)} nodes")
    members = np.full((n, max(map(len, sets))), np.nan, dtype=values.dtype)
    for i, part in zip(nodes, sets, strict=True):
        members[i, : len(part)] = part
    return members
