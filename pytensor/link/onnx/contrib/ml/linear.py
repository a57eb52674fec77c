"""Linear models and preprocessing of ai.onnx.ml."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

import pytensor.tensor as pt
from pytensor.link.onnx.importing.registry import (
    ML,
    Refused,
    attributes_of,
    must_have,
    operator_funcify,
)
from pytensor.link.onnx.importing.sizes import like
from pytensor.link.onnx.importing.text import Text, codes_of
from pytensor.raise_op import Assert
from pytensor.tensor.basic import as_tensor_variable, cast
from pytensor.tensor.moments import total

TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
Transform = Literal[*TRANSFORMS]


def with_transform(scores, name):
    """Return scores (rows, targets) after one of the transformations called post_transform."""
    if name == "NONE":
        return scores
    if scores.type.shape[1] == 1 and name != "PROBIT":
        raise Refused(
            f"onnxruntime doesn't apply the post_transform {name!r} to a single score, though the "
            f"standard has it: remove it from the file, and add an operator if you need it"
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
    root, two, one = (like(scores, v) for v in (np.sqrt(2), 2, 1))
    return root * pt.erfinv(two * scores - one)


@dataclass
class Labels:
    """A classifier's outputs, from scores.

    `integers` are labels, or numbers of them if they are text; None if nobody reads them.
    """

    n_classes: int
    integers: np.ndarray | None
    are_text: bool = False

    def of_positions(self, positions):
        """Return the labels of classes; only scores if they are strings, which nothing reads."""
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


def label_output(node, strings, **integers):
    """Return what a classifier's attributes say of its labels, which are strings or integers."""
    if strings:
        labels = node.importer.strings.codes(strings) if 0 in node.wanted_outputs else None
        return Labels(len(strings), labels, are_text=True)
    must_have(**integers)
    (labels,) = (np.asarray(v, dtype="int64") for v in integers.values())
    return Labels(len(labels), labels)


def floats(values):
    return np.asarray(values, dtype="float32")


def _wide(x):
    """Return single precision, or double for what that would round; results are float32."""
    return x if x.type.dtype == "float32" else cast(x, "float64")


def rows(x):
    """Return the input as rows; a vector is one row."""
    return _wide(x if x.type.ndim > 1 else x[None])


def _linear(x, n_targets, *, coefficients, intercepts=None):
    scores = rows(x).dot(floats(coefficients).reshape(n_targets, -1).T)
    return scores if intercepts is None else scores + floats(intercepts)


@operator_funcify.register("LinearRegressor", domain=ML)
@attributes_of(_linear)
def linear_regressor(x, *, post_transform: Transform = "NONE", targets=1, **linear):
    return cast(with_transform(_linear(x, targets, **linear), post_transform), "float32")


@operator_funcify.register("LinearClassifier", domain=ML)
def linear_classifier(
    node, x, *, classlabels_ints=None, classlabels_strings=None, coefficients, intercepts=None,
    multi_class=0, post_transform: Transform = "NONE",
):  # fmt: skip
    labels = label_output(node, classlabels_strings, classlabels_ints=classlabels_ints)
    n_scores = len(intercepts or [0] * labels.n_classes)
    scores = _linear(x, n_scores, coefficients=coefficients, intercepts=intercepts)
    if n_scores == 1 and labels.n_classes == 2:
        return labels.of_one_score(scores, post_transform, probability=False)
    return labels.of_scores(scores, post_transform)


@operator_funcify.register("Scaler", domain=ML)
def scaler(x, *, offset=(0.0,), scale=(1.0,)):
    return cast((_wide(x) - floats(offset)) * floats(scale), "float32")


@operator_funcify.register("Normalizer", domain=ML)
def normalizer(x, *, norm: Literal["MAX", "L1", "L2"] = "MAX"):
    x = _wide(x)
    if norm == "MAX":
        divisor = pt.max(x, axis=-1, keepdims=True)
    elif norm == "L1":
        divisor = total(abs(x), (-1,), keepdims=True)
    else:
        divisor = pt.sqrt(total(pt.sqr(x), (-1,), keepdims=True))
    return cast(x / pt.switch(pt.eq(divisor, 0), pt.ones_like(divisor), divisor), "float32")


@operator_funcify.register("Imputer", domain=ML)
def imputer(
    x,
    *,
    imputed_value_floats=None,
    imputed_value_int64s=None,
    replaced_value_float=0.0,
    replaced_value_int64=0,
):
    if x.type.dtype.startswith("float"):
        must_have(imputed_value_floats=imputed_value_floats)
        given = replaced_value_float, imputed_value_floats
    else:
        must_have(imputed_value_int64s=imputed_value_int64s)
        given = replaced_value_int64, imputed_value_int64s
    replaced, values = (np.asarray(v, dtype=x.type.dtype) for v in given)
    missing = pt.isnan(x) if np.isnan(replaced) else pt.eq(x, replaced)
    return pt.switch(missing, values, x)


@operator_funcify.register("Binarizer", domain=ML)
def binarizer(x, *, threshold=0.0):
    # In double precision, in which neither the threshold nor an integer is rounded
    above = cast(x, "float64") > np.float64(threshold)
    return cast(above, x.type.dtype)


def _table(which, strings, tensor, int64s, floats):
    """Return the keys or values of a LabelEncoder, and whether they are numbers of strings."""
    if strings is not None:
        return strings, True
    for values, dtype in ((tensor, None), (int64s, "int64"), (floats, "float32")):
        if values is not None:
            return np.asarray(values, dtype=dtype), False
    raise Refused(f"it has no {which}")


@operator_funcify.register("LabelEncoder", domain=ML, before=2)
def label_encoder_of_classes(
    node, x, *, classes_strings, default_int64=-1, default_string="_Unused"
):
    """Map strings to their places in a list, or places to strings."""
    sides = classes_strings, np.arange(len(classes_strings))
    keys, values = ("strings", "int64s") if isinstance(x, Text) else ("int64s", "strings")
    sides = sides if isinstance(x, Text) else sides[::-1]
    table = {f"keys_{keys}": sides[0], f"values_{values}": sides[1]}
    return label_encoder(
        node, x, default_int64=default_int64, default_string=default_string, **table
    )


@operator_funcify.register("LabelEncoder", domain=ML)
def label_encoder(
    node, x, *, default_float=-0.0, default_int64=-1, default_string="_Unused",
    default_tensor=None, keys_floats=None, keys_int64s=None, keys_strings=None, keys_tensor=None,
    values_floats=None, values_int64s=None, values_strings=None, values_tensor=None,
):  # fmt: skip
    codes = node.importer.strings.codes
    strings = [v if v is None else codes(v) for v in (keys_strings, values_strings)]
    keys, of_text = _table("keys", strings[0], keys_tensor, keys_int64s, keys_floats)
    values, to_text = _table("values", strings[1], values_tensor, values_int64s, values_floats)
    _must_be_text(x, of_text)
    if len(keys) != len(values):
        raise Refused(f"it has {len(keys)} keys and {len(values)} values")
    x, default = codes_of(x), default_tensor
    if to_text:
        default = codes([default_string])
    elif default is None:
        default = default_float if values.dtype.kind == "f" else default_int64
    default = np.asarray(default, dtype=values.dtype).reshape(())
    # Where keys are equal the last one counts, and argmax finds the first
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
        raise Refused("it takes only {}, and its input is {}".format(*kinds))


@operator_funcify.register("CategoryMapper", domain=ML)
def category_mapper(
    node, x, *, cats_int64s, cats_strings, default_int64=-1, default_string="_Unused"
):
    strings = node.importer.strings.codes(cats_strings)
    numbers = np.asarray(cats_int64s, dtype="int64")
    if len(strings) != len(numbers):
        raise Refused(f"it has {len(strings)} cats_strings and {len(numbers)} cats_int64s")
    text = isinstance(x, Text)
    keys, values = (strings, numbers) if text else (numbers, strings)
    unknown = node.importer.strings.codes([default_string])[0]
    default = np.int64(default_int64) if text else unknown
    found = pt.eq(codes_of(x)[..., None], keys[::-1])
    chosen = as_tensor_variable(values[::-1].copy())[pt.argmax(found, axis=-1)]
    out = pt.switch(found.any(axis=-1), chosen, default)
    return out if text else Text(out)


@operator_funcify.register("FeatureVectorizer", domain=ML)
def feature_vectorizer(*inputs, inputdimensions):
    parts = [rows(x).flatten(2) for x in inputs]
    for part, width in zip(parts, inputdimensions, strict=True):
        if part.type.shape[1] not in (width, None):
            raise Refused(f"an input has {part.type.shape[1]} features, and should have {width}")
    return cast(pt.concatenate(parts, axis=1), "float32")


@operator_funcify.register("ZipMap", domain=ML)
def zip_map(x, *, classlabels_int64s=None, classlabels_strings=None):
    labels, x = classlabels_int64s or classlabels_strings, rows(x)
    must_have(classlabels_strings=labels)
    if x.type.shape[1] not in (len(labels), None):
        raise Refused(f"it has {len(labels)} labels for {x.type.shape[1]} probabilities")
    return x


@operator_funcify.register("ArrayFeatureExtractor", domain=ML)
def array_feature_extractor(x, indices):
    result = pt.take(x, indices.flatten(), axis=-1)
    return result if x.type.ndim > 1 else result[None]


@operator_funcify.register("OneHotEncoder", domain=ML)
def one_hot_encoder(node, x, *, cats_int64s=None, cats_strings=None, zeros=1):
    _must_be_text(x, cats_strings is not None)
    if isinstance(x, Text):
        categories, x = node.importer.strings.codes(cats_strings), x.codes
    else:
        must_have(cats_int64s=cats_int64s)
        categories = np.asarray(cats_int64s, dtype="int64")
    result = pt.eq(cast(x, "int64")[..., None], categories)
    if not zeros:
        known = Assert("OneHotEncoder: an element of the input isn't among its categories")
        result = known(result, result.any(axis=-1).all())
    return cast(result, "float32")
