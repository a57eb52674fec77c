import numpy as np

import pytensor.tensor as pt
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

X = np.arange(24, dtype="float32").reshape(2, 3, 4)


def test_join():
    x, n = pt.tensor3("x", dtype="float32"), pt.ltensor3("n")
    outputs = [pt.join(0, x, x), pt.concatenate([x, n], axis=-1), pt.stack([x, x + 1], axis=1)]
    compare_onnx_and_py([x, n], outputs, [X, X])


def test_split():
    x = pt.tensor("x", shape=(None, 3, 4), dtype="float32")
    model = compare_onnx_and_py([x], pt.split(x, [1, 3], n_splits=2, axis=2), [X])
    assert op_types(model) == ["Split"]
    sizes = pt.lvector("sizes")
    compare_onnx_and_py([x, sizes], pt.split(x, sizes, n_splits=2, axis=1), [X, [2, 1]])


def test_alloc_arange_eye():
    n = pt.lscalar("n")
    outputs = [
        pt.zeros((n, 3)),
        pt.alloc(np.float32([1, 2]), n, 2),
        pt.arange(n),
        pt.arange(1, n, 2, dtype="float32"),
        pt.arange(5),
        pt.eye(3, 4, 1, dtype="float32"),
        pt.as_tensor([n, 2, n + 1]),
        pt.full_like(pt.arange(n), 7),
    ]
    compare_onnx_and_py([n], outputs, [5])


def test_tile_repeat_tril():
    x = pt.tensor("x", shape=(None, 4), dtype="float32")
    outputs = [pt.tile(x, (2, 3)), pt.repeat(x, 2, axis=0), pt.tril(x), x.flatten(), x.T]
    compare_onnx_and_py([x], outputs, [X[0]])
