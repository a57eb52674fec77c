"""Linear models and preprocessing of ai.onnx.ml."""

from dataclasses import dataclass

import numpy as np

import pytensor.tensor as pt
from pytensor.link.onnx.importing.registry import ML, Refused, operator_funcify
from pytensor.link.onnx.importing.text import Text, codes_of
from pytensor.link.onnx.importing.windows import like, total
from pytensor.raise_op import Assert
from pytensor.tensor.basic import as_tensor_variable, cast


def with_transform(scores, name):
    """Return scores (rows, targets) after one of the transformations called post_transform."""
    if name == "NONE":
        return scores
    if scores.type.shape[1] == 1 and name != "PROBIT":
        raise Refused(
            f"the post_transform {name!r} of a single score, which onnxruntime leaves out though "
            f"the standard has it: take it out of the file, and add an operator if it is meant"
        )
    if name == "LOGISTIC":
        return pt.sigmoid(scores)
    if name == "SOFTMAX":
        return pt.special.softmax(scores, axis=-1)
    if name == "SOFTMAX_ZERO":
        # Scores of 0 stay 0
        zero = pt.eq(scores, 0)
        exponential = pt.exp(scores - pt.max(scores, axis=-1, keepdims=True))
        exponential = pt.switch(zero, pt.zeros_like(scores), exponential)
        return exponential / total(exponential, (-1,), keepdims=True)
    if name == "PROBIT":
        root, two, one = (like(scores, v) for v in (np.sqrt(2), 2, 1))
        return root * pt.erfinv(two * scores - one)
    raise Refused(f"the post_transform {name!r}, which the standard doesn't have")


@dataclass
class Labels:
    """A classifier's outputs, from scores.

    `integers` are labels, or numbers of them if they are text; None if nobody reads them.
    """

    n_classes: int
    integers: np.ndarray | None
    are_text: bool = False

    def of_positions(self, positions):
        """Return the labels of classes; scores alone if they are strings, which nobody reads."""
        if self.integers is None:
            return positions
        labels = as_tensor_variable(self.integers)[positions]
        return Text(labels) if self.are_text else labels

    def of_scores(self, scores, transform):
        """Return the label of the highest score, and the scores in float32."""
        labels = self.of_positions(pt.argmax(scores, axis=1))
        return labels, cast(with_transform(scores, transform), "float32")

    def of_one_score(self, score, transform, probability):
        """Return labels and scores of two classes, from the second's probability or its score."""
        if transform != ("NONE" if probability else "LOGISTIC"):
            raise Refused(
                f"the post_transform {transform!r} of one score for two classes, which runtimes "
                f"compute differently: write scores of both classes"
            )
        labels = self.of_positions(cast(score[:, 0] > (0.5 if probability else 0), "int64"))
        first = like(score, 1) - score if probability else -score
        both = pt.concatenate([first, score], axis=1)
        return labels, cast(with_transform(both, transform), "float32")


def label_output(node, integers, strings):
    """Return what a classifier's attributes say of its labels."""
    names = node.attribute(strings)
    if names:
        labels = node.strings.codes(names) if node.has_output(0) else None
        return Labels(len(names), labels, are_text=True)
    labels = np.asarray(node.required(integers), dtype="int64")
    return Labels(len(labels), labels)


def floats(node, name, default=None):
    return np.asarray(node.attribute(name, default), dtype="float32")


def _wide(x):
    """Return single precision, or double for what that would round; results are float32."""
    return x if x.type.dtype == "float32" else cast(x, "float64")


def rows(x):
    """Return the input as rows; a vector is one row."""
    return _wide(x if x.type.ndim > 1 else x[None])


def _linear(node, x, n_targets):
    coefficients = floats(node, "coefficients").reshape(n_targets, -1)
    scores = rows(x).dot(coefficients.T)
    return scores + floats(node, "intercepts") if node.has("intercepts") else scores


@operator_funcify.register("LinearRegressor", domain=ML)
def linear_regressor(node, x):
    scores = _linear(node, x, node.attribute("targets", 1))
    return cast(with_transform(scores, node.attribute("post_transform", "NONE")), "float32")


@operator_funcify.register("LinearClassifier", domain=ML)
def linear_classifier(node, x):
    labels = label_output(node, "classlabels_ints", "classlabels_strings")
    transform = node.attribute("post_transform", "NONE")
    n_scores = len(node.attribute("intercepts") or [0] * labels.n_classes)
    scores = _linear(node, x, n_scores)
    if n_scores == 1 and labels.n_classes == 2:
        return labels.of_one_score(scores, transform, probability=False)
    return labels.of_scores(scores, transform)


@operator_funcify.register("Scaler", domain=ML)
def scaler(node, x):
    scaled = (_wide(x) - floats(node, "offset", [0])) * floats(node, "scale", [1])
    return cast(scaled, "float32")


@operator_funcify.register("Normalizer", domain=ML)
def normalizer(node, x):
    norm, x = node.attribute("norm", "MAX"), _wide(x)
    if norm == "MAX":
        divisor = pt.max(x, axis=-1, keepdims=True)
    elif norm == "L1":
        divisor = total(abs(x), (-1,), keepdims=True)
    elif norm == "L2":
        divisor = pt.sqrt(total(pt.sqr(x), (-1,), keepdims=True))
    else:
        raise Refused(f"the norm {norm!r}, which the standard doesn't have")
    return cast(x / pt.switch(pt.eq(divisor, 0), pt.ones_like(divisor), divisor), "float32")


@operator_funcify.register("Imputer", domain=ML)
def imputer(node, x):
    kind = "float" if x.type.dtype.startswith("float") else "int64"
    replaced = np.asarray(node.attribute(f"replaced_value_{kind}", 0), dtype=x.type.dtype)
    values = np.asarray(node.required(f"imputed_value_{kind}s"), dtype=x.type.dtype)
    missing = pt.isnan(x) if np.isnan(replaced) else pt.eq(x, replaced)
    return pt.switch(missing, values, x)


@operator_funcify.register("Binarizer", domain=ML)
def binarizer(node, x):
    # In double precision, in which neither the threshold nor an integer is rounded
    above = cast(x, "float64") > np.float64(np.float32(node.attribute("threshold", 0.0)))
    return cast(above, x.type.dtype)


def _table(node, which):
    """Return the keys or values of a LabelEncoder, and whether they are numbers of strings."""
    if node.has(f"{which}_strings"):
        return node.strings.codes(node.attribute(f"{which}_strings")), True
    for suffix, dtype in (("tensor", None), ("int64s", "int64"), ("floats", "float32")):
        if node.has(f"{which}_{suffix}"):
            return np.asarray(node.attribute(f"{which}_{suffix}"), dtype=dtype), False
    raise Refused(f"it has no {which}")


@operator_funcify.register("LabelEncoder", domain=ML)
def label_encoder(node, x):
    (keys, of_text), (values, to_text) = _table(node, "keys"), _table(node, "values")
    _must_be_text(x, of_text)
    x, default = codes_of(x), node.attribute("default_tensor")
    if to_text:
        default = node.strings.codes([node.attribute("default_string", "_Unused")])
    elif default is None:
        floating = values.dtype.kind == "f"
        default = node.attribute(*(("default_float", -0.0) if floating else ("default_int64", -1)))
    default = np.asarray(default, dtype=values.dtype).reshape(())
    # Of equal keys the last one counts, and argmax finds the first
    keys, values = keys[::-1], values[::-1]
    found = pt.eq(x[..., None], keys.astype(x.type.dtype))
    if keys.dtype.kind == "f" and np.isnan(keys).any():
        found = found | (pt.isnan(x)[..., None] & np.isnan(keys))
    chosen = as_tensor_variable(values.copy())[pt.argmax(found, axis=-1)]
    out = pt.switch(found.any(axis=-1), chosen, default)
    return Text(out) if to_text else out


def _must_be_text(x, text):
    """Refuse numbers where the node has strings, and the other way round."""
    if isinstance(x, Text) != text:
        kinds = ("text", "numbers") if text else ("numbers", "text")
        raise Refused("it knows {} alone, and its input is {}".format(*kinds))


@operator_funcify.register("CategoryMapper", domain=ML)
def category_mapper(node, x):
    strings = node.strings.codes(node.required("cats_strings"))
    numbers = np.asarray(node.required("cats_int64s"), dtype="int64")
    text = isinstance(x, Text)
    keys, values = (strings, numbers) if text else (numbers, strings)
    unknown = node.strings.codes([node.attribute("default_string", "_Unused")])[0]
    default = np.int64(node.attribute("default_int64", -1)) if text else unknown
    found = pt.eq(codes_of(x)[..., None], keys[::-1])
    chosen = as_tensor_variable(values[::-1].copy())[pt.argmax(found, axis=-1)]
    out = pt.switch(found.any(axis=-1), chosen, default)
    return out if text else Text(out)


@operator_funcify.register("FeatureVectorizer", domain=ML)
def feature_vectorizer(node, *inputs):
    widths = node.required("inputdimensions")
    parts = [rows(x).flatten(2) for x in inputs]
    for part, width in zip(parts, widths, strict=True):
        if part.type.shape[1] not in (width, None):
            raise Refused(f"an input has {part.type.shape[1]} features, and should have {width}")
    return cast(pt.concatenate(parts, axis=1), "float32")


@operator_funcify.register("ZipMap", domain=ML)
def zip_map(node, x):
    labels = node.attribute("classlabels_int64s") or node.required("classlabels_strings")
    x = rows(x)
    if x.type.shape[1] not in (len(labels), None):
        raise Refused(f"it has {len(labels)} labels for {x.type.shape[1]} probabilities")
    return x


@operator_funcify.register("ArrayFeatureExtractor", domain=ML)
def array_feature_extractor(node, x, indices):
    result = pt.take(x, indices.flatten(), axis=-1)
    return result if x.type.ndim > 1 else result[None]


@operator_funcify.register("OneHotEncoder", domain=ML)
def one_hot_encoder(node, x):
    _must_be_text(x, node.has("cats_strings"))
    if isinstance(x, Text):
        categories, x = node.strings.codes(node.attribute("cats_strings")), x.codes
    else:
        categories = np.asarray(node.required("cats_int64s"), dtype="int64")
    result = pt.eq(cast(x, "int64")[..., None], categories)
    if not node.attribute("zeros", 1):
        known = Assert("OneHotEncoder: an element of the input isn't among its categories")
        result = known(result, result.any(axis=-1).all())
    return cast(result, "float32")
