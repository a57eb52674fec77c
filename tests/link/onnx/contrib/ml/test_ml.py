"""Operators of ai.onnx.ml, through `from_onnx` and in onnxruntime."""

import numpy as np
import pytest
from onnx import numpy_helper

from pytensor import grad
from pytensor.link.onnx import ImportedOpError, from_onnx
from pytensor.link.onnx.importing.registry import ML
from tests.link.onnx.importing.with_onnxruntime import (
    PYTHON,
    compare,
    in_pytensor,
    one_node,
    parsed,
)
from tests.utils import in_turn

MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
N_FEATURES = 3
NODES = [
    "nodes_treeids",
    "nodes_nodeids",
    "nodes_modes",
    "nodes_featureids",
    "nodes_values",
    "nodes_truenodeids",
    "nodes_falsenodeids",
    "nodes_missing_value_tracks_true",
]


def random_trees(rng, kind, n_outputs, modes, missing, n_trees=4, depth=3, grid=True):
    """Draw attributes of trees, some of whose leaves are higher and vote more than once."""
    nodes = {name: [] for name in NODES}
    votes = {f"{kind}_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}

    def grow(tree, level):
        position = len(nodes["nodes_nodeids"])
        leaf = level == depth or (level > 1 and rng.random() < 0.3)
        values = (
            tree,
            len([t for t in nodes["nodes_treeids"] if t == tree]),
            "LEAF" if leaf else str(rng.choice(modes)),
            0 if leaf else int(rng.integers(N_FEATURES)),
            0.0 if leaf else float(rng.integers(-2, 3) if grid else rng.normal()),
            0,
            0,
            int(missing and rng.random() < 0.5),
        )
        for name, value in zip(nodes, values, strict=True):
            nodes[name].append(value)
        own = values[1]
        if leaf:
            for target in rng.choice(n_outputs, size=rng.integers(1, n_outputs + 1), replace=False):
                for name, value in zip(
                    votes, (tree, own, int(target), float(rng.normal())), strict=True
                ):
                    votes[name].append(value)
        else:
            nodes["nodes_truenodeids"][position] = grow(tree, level + 1)
            nodes["nodes_falsenodeids"][position] = grow(tree, level + 1)
        return own

    for tree in range(n_trees):
        grow(tree, 0)
    return nodes | votes


def rows(rng, dtype, missing=False, n=40):
    """Draw rows that often lie on thresholds."""
    x = rng.integers(-2, 3, size=(n, N_FEATURES)).astype(dtype)
    if missing:
        x[rng.random(x.shape) < 0.2] = np.nan
    return x


def regressor(x, n_targets, **trees):
    how = {"domain": ML, "types": ["float32"], "n_targets": n_targets}
    return one_node("TreeEnsembleRegressor", [x], **how, **trees)


@in_turn("mode, missing, dtype", [*MODES, "all"], [True, False], ["float32", "float64"])
def test_tree_ensemble_regressor(mode, missing, dtype):
    rng = np.random.default_rng(MODES.index(mode) if mode in MODES else 17)
    trees = random_trees(rng, "target", 2, MODES if mode == "all" else [mode], missing)
    x = rows(rng, dtype, missing=True)
    compare(regressor(x, 2, **trees), [x])


@pytest.mark.slow
@in_turn(
    "aggregate, transform",
    ["SUM", "AVERAGE", "MIN", "MAX"],
    ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"],
)
def test_tree_ensemble_aggregates_and_transforms(aggregate, transform):
    rng = np.random.default_rng(3)
    x = rows(rng, "float32")
    how = {"aggregate_function": aggregate, "post_transform": transform}
    trees = random_trees(rng, "target", 3, MODES, False, n_trees=9)
    model = regressor(x, 3, base_values=[0.5, -1.0, 0.25], **how, **trees)
    compare(model, [x], rtol=1e-4)


def test_thresholds_are_compared_in_the_inputs_precision():
    third = np.float32(1 / 3)
    x = np.array([[third], [np.nextafter(float(third), 1)]], dtype="float64")
    trees = {
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_featureids": [0, 0, 0],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        "nodes_values_as_tensor": numpy_helper.from_array(np.array([float(third), 0, 0])),
        "target_treeids": [0, 0],
        "target_nodeids": [1, 2],
        "target_ids": [0, 0],
        "target_weights_as_tensor": numpy_helper.from_array(np.array([1.0, 2.0])),
    }
    (y,) = compare(regressor(x, 1, **trees), [x])
    np.testing.assert_array_equal(y, [[1], [2]])


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_tree_ensemble_classifier(n_classes, transform, dtype):
    rng = np.random.default_rng(n_classes)
    x = rows(rng, dtype)
    labels = np.array([7, 3, 5][:n_classes])
    model = one_node(
        "TreeEnsembleClassifier",
        [x],
        2,
        domain=ML,
        types=["int64", "float32"],
        classlabels_int64s=labels,
        post_transform=transform,
        **random_trees(rng, "class", n_classes, MODES[:2], False),
    )
    if n_classes == 2:
        # onnxruntime calls two classes 1 and 0 then, and takes the first if its score is positive
        del model.graph.output[0]
        compare(model, [x])
    else:
        found, scores = compare(model, [x])
        np.testing.assert_array_equal(found, labels[scores.argmax(axis=1)])


def one_score_for_two_classes(positive, transform):
    rng = np.random.default_rng(11)
    trees = random_trees(rng, "class", 1, ["BRANCH_LEQ"], False)
    if positive:
        trees["class_weights"] = [abs(w) / 8 for w in trees["class_weights"]]
    x = rows(rng, "float32")
    labels = {"classlabels_int64s": [4, 9], "post_transform": transform, "base_values": [0.125]}
    types = ["int64", "float32"]
    return one_node("TreeEnsembleClassifier", [x], 2, ML, types=types, **labels, **trees), x


@pytest.mark.parametrize(("positive", "transform"), [(True, "NONE"), (False, "LOGISTIC")])
def test_one_score_for_two_classes(positive, transform):
    model, x = one_score_for_two_classes(positive, transform)
    labels, _ = compare(model, [x])
    assert set(labels) == {4, 9}


@pytest.mark.parametrize(("positive", "transform"), [(True, "LOGISTIC"), (False, "NONE")])
def test_what_runtimes_compute_differently_is_refused(positive, transform):
    with pytest.raises(ImportedOpError, match="runtimes compute differently"):
        from_onnx(one_score_for_two_classes(positive, transform)[0])


def test_random_forest_in_jax():
    """Trees of scikit-learn's depth, in one program."""
    pytest.importorskip("jax")
    rng = np.random.default_rng(2)
    x = rng.normal(size=(20, N_FEATURES)).astype("float32")
    trees = random_trees(rng, "target", 1, ["BRANCH_LEQ"], True, 10, 7, grid=False)
    compare(regressor(x, 1, **trees), [x], mode="JAX")


def tree_ensemble(dtype, **attributes):
    """Return trees with sets of members, as TreeEnsemble has them."""
    values = {
        "nodes_splits": np.array([1.5, 0.0, 0.0], dtype=dtype),
        "nodes_modes": np.array([0, 6, 6], dtype="uint8"),
        "leaf_weights": np.array([1.0, 10.0, 100.0, 0.5, -2.0], dtype=dtype),
        "membership_values": np.array([1.0, -2.0, np.nan, 0.0, 2.0, -1.0, np.nan], dtype=dtype),
    }
    return {name: numpy_helper.from_array(value) for name, value in values.items()} | {
        "tree_roots": [0, 2],
        "nodes_featureids": [0, 1, 2],
        "nodes_truenodeids": [1, 0, 3],
        "nodes_falsenodeids": [2, 1, 4],
        "nodes_trueleafs": [0, 1, 1],
        "nodes_falseleafs": [1, 1, 1],
        "leaf_targetids": [0, 1, 1, 0, 1],
        "n_targets": 2,
        **attributes,
    }


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("aggregate", [0, 1, 2, 3])
def test_tree_ensemble(aggregate, dtype):
    x = rows(np.random.default_rng(8), dtype)
    attributes = tree_ensemble(dtype, aggregate_function=aggregate)
    compare(one_node("TreeEnsemble", [x], domain=ML, version=5, **attributes), [x])


@pytest.mark.parametrize(
    ("attributes", "match"),
    [
        ({"nodes_truenodeids": [0, 0, 3]}, "lead back to it"),
        ({"aggregate_function": -1}, "aggregate_function is -1; there are 0 to 3"),
        ({"post_transform": -1}, "post_transform is -1; there are 0 to 4"),
        ({"nodes_featureids": [0, 1, -1]}, "-1, which is no feature"),
        ({"nodes_featureids": [0]}, "different numbers of entries"),
        ({"tree_roots": [0, -1]}, "number of no node"),
        ({"leaf_targetids": [0]}, "5 leaf_weights and 1 leaf_targetids"),
    ],
)
def test_numbers_of_trees_that_make_no_sense_are_refused(attributes, match):
    x = np.zeros((1, 3), dtype="float32")
    attributes = tree_ensemble("float32", **attributes)
    with pytest.raises(ImportedOpError, match=match):
        from_onnx(one_node("TreeEnsemble", [x], domain=ML, version=5, **attributes))


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("nodes_featureids", "nodes_featureids has 1 entries"),
        ("target_ids", "different numbers of entries"),
        ("target_weights", "different numbers of entries"),
    ],
)
def test_lists_of_trees_have_equal_lengths(name, match):
    trees = random_trees(np.random.default_rng(3), "target", 1, MODES, False)
    trees[name] = trees[name][:1]
    x = np.zeros((1, N_FEATURES), "float32")
    with pytest.raises(ImportedOpError, match=match):
        from_onnx(regressor(x, 1, **trees))


def test_as_many_keys_as_values():
    attributes = {"keys_int64s": [1, 2], "values_int64s": [10, 20, 30]}
    with pytest.raises(ImportedOpError, match="2 keys and 3 values"):
        from_onnx(one_node("LabelEncoder", [np.array([5, 1])], 1, ML, 4, **attributes))


@pytest.mark.parametrize(
    ("n_targets", "transform"), [(1, "NONE"), (1, "PROBIT"), (2, "SOFTMAX"), (2, "PROBIT")]
)
def test_linear_regressor(n_targets, transform):
    x = (np.arange(6, dtype="float32").reshape(2, 3) - 2) / 4
    coefficients = [0.1, -0.05, 0.2, 0.02, 0.03, 0.1][: 3 * n_targets]
    model = one_node(
        "LinearRegressor",
        [x],
        domain=ML,
        targets=n_targets,
        coefficients=coefficients,
        intercepts=[0.4, 0.5][:n_targets],
        post_transform=transform,
    )
    if transform == "PROBIT":
        # onnxruntime's inverse of the error function has three digits
        compare(model, [x], rtol=1e-2, atol=1e-2)
    else:
        compare(model, [x])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_linear_classifier(n_classes, transform):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(9, 4)).astype("float32")
    model = one_node(
        "LinearClassifier",
        [x],
        2,
        domain=ML,
        types=["int64", "float32"],
        classlabels_ints=[5, 6, 2][:n_classes],
        coefficients=rng.normal(size=4 * n_classes).tolist(),
        intercepts=rng.normal(size=n_classes).tolist(),
        post_transform=transform,
    )
    compare(model, [x])


def test_gradient_of_a_scaled_linear_classifier():
    x = np.array([[1.0, 2.0], [0.5, -1.0]], dtype="float32")
    model = parsed("""(float[2, 2] x) => (float[2, 2] p)
        { s = ai.onnx.ml.Scaler<offset = [1.0, 0.5], scale = [2.0, 4.0]>(x)
          label, p = ai.onnx.ml.LinearClassifier<classlabels_ints = [0, 1], intercepts = [0.0, 0.0],
            coefficients = [-1.0, 0.5, 1.0, -0.5], post_transform = "SOFTMAX">(s) }""",
        domains=', "ai.onnx.ml": 3')  # fmt: skip
    imported = from_onnx(model)
    (variable,), (p,) = imported.inputs.values(), imported.outputs.values()
    gradient = grad(p[:, 1].sum(), variable).eval({variable: x}, mode=PYTHON)
    scaled = (x - [1, 0.5]) * [2, 4]
    probability = 1 / (1 + np.exp(-(scaled @ [2, -1])))
    wanted = (probability * (1 - probability))[:, None] * [4, -4]
    np.testing.assert_allclose(gradient, wanted, rtol=1e-5)


@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
@pytest.mark.parametrize("one_class", [0, 1])
def test_svm_regressor(kernel, one_class):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(6, 3)).astype("float32")
    model = one_node(
        "SVMRegressor",
        [x],
        domain=ML,
        kernel_type=kernel,
        kernel_params=[0.5, 0.25, 3.0],
        n_supports=4,
        support_vectors=rng.normal(size=12).tolist(),
        coefficients=rng.normal(size=4).tolist(),
        rho=[0.125],
        one_class=one_class,
    )
    compare(model, [x], rtol=1e-4)


SVM = ["LINEAR", "POLY", "RBF", "SIGMOID"]


@in_turn("kernel, counts, probabilities", SVM, [[4, 3], [2, 5, 3], [3, 2, 4, 2]], [False, True])
def test_svm_classifier(kernel, counts, probabilities):
    n, rng = len(counts), np.random.default_rng(1 + 3 * len(counts) + SVM.index(kernel))
    pairs, x = n * (n - 1) // 2, rng.normal(size=(30, 3)).astype("float32")
    attributes = {
        "kernel_type": kernel,
        "kernel_params": [0.3, 0.7, 2.0],
        "vectors_per_class": counts,
        "support_vectors": rng.normal(size=3 * sum(counts)),
        "coefficients": rng.normal(size=(n - 1) * sum(counts)),
        "rho": rng.normal(0, 0.1, pairs),
        "classlabels_ints": list(range(10, 10 + n)),
    }
    if probabilities:
        attributes |= {"prob_a": rng.uniform(-3, -1, pairs), "prob_b": rng.normal(size=pairs)}
    types = ["int64", "float32"]
    model = one_node("SVMClassifier", [x], 2, domain=ML, types=types, **attributes)
    labels, _ = compare(model, [x])
    assert len(set(labels.tolist())) > 1


def test_linear_svm_classifier():
    x, options = np.random.default_rng(0).normal(size=(30, 4)).astype("float32"), {}
    options["coefficients"] = np.random.default_rng(1).normal(size=12)
    options |= {"rho": [0.3], "kernel_params": [0.0] * 3}
    options |= {"domain": ML, "types": ["int64", "float32"]}
    for transform in ("NONE", "SOFTMAX"):
        labels = {"classlabels_ints": [3, 1, 2], "post_transform": transform}
        compare(one_node("SVMClassifier", [x], 2, **labels, **options), [x])
    two = one_node("SVMClassifier", [x], 2, classlabels_ints=[0, 1], **options)
    with pytest.raises(ImportedOpError, match="two classes and no support vectors"):
        from_onnx(two)


X = np.array([[1.0, -2.0, 0.0], [0.0, 0.0, 0.0], [3.0, 4.0, -12.0]], dtype="float32")
WITH_NAN = np.array([[1.0, np.nan, 0.0], [0.0, 2.0, np.nan]], dtype="float32")
INTEGERS = np.array([[1, -2, 5], [2, 5, 7]])
PREPARING = {
    "scaler": ("Scaler", X, {"offset": [0.5, 1.0, 2.0], "scale": [2.0, 3.0, 0.5]}, "float32"),
    "scaler of integers": ("Scaler", INTEGERS, {"offset": [0.5], "scale": [2.0]}, "float32"),
    "scaler of large numbers": (
        "Scaler",
        np.array([[1e9 + 0.5, 1e9 - 0.25]]),
        {"offset": [1e9], "scale": [2.0]},
        "float32",
    ),
    "maximum": ("Normalizer", X, {"norm": "MAX"}, "float32"),
    "sum": ("Normalizer", X, {"norm": "L1"}, "float32"),
    "length": ("Normalizer", X, {"norm": "L2"}, "float32"),
    "missing": (
        "Imputer",
        WITH_NAN,
        {"replaced_value_float": float("nan"), "imputed_value_floats": [5.0, 6.0, 7.0]},
        "float32",
    ),
    "missing integers": (
        "Imputer",
        INTEGERS,
        {"replaced_value_int64": 5, "imputed_value_int64s": [2**60 + 1]},
        "int64",
    ),
    "binary": ("Binarizer", X, {"threshold": 0.5}, "float32"),
    "encoded": (
        "LabelEncoder",
        INTEGERS,
        {"keys_int64s": [5, 1, 2], "values_floats": [0.5, 1.5, 2.5], "default_float": -7.0},
        "float32",
    ),
    "decoded": (
        "LabelEncoder",
        WITH_NAN,
        {"keys_floats": [float("nan"), 0.0], "values_int64s": [3, 4], "default_int64": 9},
        "int64",
    ),
    "one hot": ("OneHotEncoder", INTEGERS, {"cats_int64s": [5, 2, -2]}, "float32"),
    "one hot of floats": ("OneHotEncoder", X, {"cats_int64s": [3, 0, 4, -12]}, "float32"),
}


@pytest.mark.parametrize("case", PREPARING)
def test_preparing(case):
    op_type, x, attributes, dtype = PREPARING[case]
    version = 4 if op_type == "LabelEncoder" else 3
    compare(one_node(op_type, [x], 1, ML, version, [dtype], **attributes), [x])


def test_of_equal_keys_the_last_counts():
    x = np.array([5, 1])
    attributes = {"keys_int64s": [5, 1, 5], "values_int64s": [10, 20, 30]}
    (y,) = in_pytensor(one_node("LabelEncoder", [x], 1, ML, 4, **attributes), [x])
    np.testing.assert_array_equal(y, [30, 20])


def test_chosen_features():
    inputs = [INTEGERS, np.array([[2, 0]])]
    compare(one_node("ArrayFeatureExtractor", inputs, domain=ML), inputs)
