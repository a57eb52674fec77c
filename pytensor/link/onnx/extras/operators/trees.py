"""Ensembles of decision trees: all rows and trees at once, one level of the trees at a time."""

from dataclasses import dataclass

import numpy as np

import pytensor.tensor as pt
from pytensor.link.onnx.extras.operators.ml import label_output, with_transform
from pytensor.link.onnx.importing.registry import ML, Refused, operator_funcify
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
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]


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
        if aggregate not in AGGREGATES:
            raise Refused(f"the aggregate function {aggregate!r}, which isn't one of {AGGREGATES}")
        voted = as_tensor_variable(voted)[leaves]
        extreme, worst = (pt.min, np.inf) if aggregate == "MIN" else (pt.max, -np.inf)
        worst = np.asarray(worst, dtype=self.votes.dtype)
        result = extreme(pt.switch(voted, votes, worst), axis=1)
        return pt.switch(voted.any(axis=1), result, np.asarray(0, dtype=self.votes.dtype))


def _numbers(node, name, length=None, default=None):
    """Return the values of an attribute, which may be a tensor of doubles instead of floats."""
    values = node.attribute(f"{name}_as_tensor")
    if values is None:
        values = node.attribute(name)
        values = default if values is None else np.asarray(values, dtype="float32")
    if values is not None and length not in (None, len(values)):
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


def _old_forest(node, kind, n_targets, aggregate="SUM"):
    """Read the trees of TreeEnsembleRegressor ("target") or TreeEnsembleClassifier ("class")."""
    modes = [MODES.index(m) if m in MODES else -1 for m in node.required("nodes_modes")]
    if -1 in modes:
        raise Refused(f"a node's mode isn't one of {MODES}")
    modes, n = np.asarray(modes), len(modes)
    trees, ids = node.required("nodes_treeids"), node.required("nodes_nodeids")
    position = {key: i for i, key in enumerate(zip(trees, ids, strict=True))}
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
    for name in ("nodes_truenodeids", "nodes_falsenodeids"):
        child, named = np.arange(n), node.required(name)
        child[inner] = positions([trees[i] for i in inner], [named[i] for i in inner])
        children.append(child)
    is_child = np.zeros(n, dtype=bool)
    for child in children:
        is_child[child[inner]] = True
    roots = np.flatnonzero(~is_child)
    if sorted(trees[i] for i in roots) != sorted(set(trees)):
        raise Refused("a tree has no root, or several")
    weights = _numbers(node, f"{kind}_weights")
    votes = positions(node.required(f"{kind}_treeids"), node.required(f"{kind}_nodeids"))
    targets = np.asarray(node.required(f"{kind}_ids"), dtype="int64")
    return Forest(
        roots,
        np.where(leaf, 0, node.required("nodes_featureids")),
        _numbers(node, "nodes_values", n),
        modes,
        *children,
        np.asarray(node.attribute("nodes_missing_value_tracks_true") or [0] * n, dtype=bool),
        *_votes(n, n_targets, votes, targets, weights, aggregate),
    )


@operator_funcify.register("TreeEnsembleRegressor", domain=ML)
def tree_ensemble_regressor(node, x):
    n_targets = node.required("n_targets")
    aggregate = node.attribute("aggregate_function", "SUM")
    forest = _old_forest(node, "target", n_targets, aggregate)
    scores = _with_base(node, _in_double(forest, x).scores(x, aggregate), n_targets)
    return cast(with_transform(scores, node.attribute("post_transform", "NONE")), "float32")


def _with_base(node, scores, n_scores):
    base = _numbers(node, "base_values", n_scores)
    return scores if base is None else scores + base.astype(scores.type.dtype)


def _in_double(forest, x):
    """Return the forest, which sums up in double precision where its input has that."""
    if x.type.dtype == "float64":
        forest.votes = forest.votes.astype("float64")
    return forest


@operator_funcify.register("TreeEnsembleClassifier", domain=ML)
def tree_ensemble_classifier(node, x):
    labels = label_output(node, "classlabels_int64s", "classlabels_strings")
    n_classes, transform = labels.n_classes, node.attribute("post_transform", "NONE")
    voted = set(node.required("class_ids"))
    one_score = n_classes == 2 and voted == {0}
    if n_classes == 2 and voted == {1}:
        raise Refused("no leaf votes for the first of two classes; runtimes differ about that")
    n_scores = 1 if one_score else n_classes
    forest = _in_double(_old_forest(node, "class", n_scores), x)
    scores = _with_base(node, forest.scores(x), n_scores)
    if one_score:
        return labels.of_one_score(scores, transform, bool((forest.votes >= 0).all()))
    return labels.of_scores(scores, transform)


@operator_funcify.register("TreeEnsemble", domain=ML)
def tree_ensemble(node, x):
    modes = node.required("nodes_modes").astype("int64")
    n, n_leaves = len(modes), len(node.required("leaf_targetids"))
    if not all(0 <= m < LEAF for m in modes):
        raise Refused(f"a node's mode isn't one of {MODES[:LEAF]}")
    itself = np.arange(n, n + n_leaves)

    def children(which):
        ids = np.asarray(node.required(f"nodes_{which}nodeids"), dtype="int64")
        leaf = np.asarray(node.required(f"nodes_{which}leafs"), dtype=bool)
        if ((ids < 0) | (ids >= np.where(leaf, n_leaves, n))).any():
            raise Refused(f"nodes_{which}nodeids has a number of no node or leaf")
        return np.concatenate([ids + n * leaf, itself])

    def extended(values, fill):
        return np.concatenate([values, np.full(n_leaves, fill, dtype=np.asarray(values).dtype)])

    aggregate = AGGREGATES[node.attribute("aggregate_function", 1)]
    n_targets = node.required("n_targets")
    missing = node.attribute("nodes_missing_value_tracks_true") or [0] * n
    forest = Forest(
        np.asarray(node.required("tree_roots"), dtype="int64"),
        extended(np.asarray(node.required("nodes_featureids"), dtype="int64"), 0),
        extended(node.required("nodes_splits"), 0),
        extended(modes, LEAF),
        children("true"),
        children("false"),
        extended(np.asarray(missing, dtype=bool), False),
        *_votes(
            n + n_leaves,
            n_targets,
            itself,
            node.required("leaf_targetids"),
            node.required("leaf_weights"),
            aggregate,
        ),
        _members(node, modes, n + n_leaves),
    )
    transform = TRANSFORMS[node.attribute("post_transform", 0)]
    return with_transform(forest.scores(x, aggregate), transform)


def _members(node, modes, n):
    """Return a row of values for each node, filled up with NaN, from sets that end with NaN."""
    nodes = np.flatnonzero(modes == MODES.index("BRANCH_MEMBER"))
    if not nodes.size:
        return None
    values = node.required("membership_values")
    sets = np.split(values, np.flatnonzero(np.isnan(values)) + 1)
    sets = [part for part in sets if part.size]
    if len(sets) != len(nodes):
        raise Refused(f"{len(sets)} sets of membership_values for {len(nodes)} nodes")
    members = np.full((n, max(map(len, sets))), np.nan, dtype=values.dtype)
    for i, part in zip(nodes, sets, strict=True):
        members[i, : len(part)] = part
    return members
