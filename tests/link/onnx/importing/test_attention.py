"""Attention of ONNX: what its node data don't hold."""

import numpy as np
import pytest

from pytensor.link.onnx import ImportedOpError, from_onnx
from tests.link.onnx.importing.with_onnxruntime import in_pytensor, one_node


def attention(*inputs, **attributes):
    return one_node("Attention", inputs, version=23, **attributes)


def test_a_query_that_is_nan_is_not_hidden():
    """Zeros are for queries that may attend to nothing."""
    q, k, v = np.random.default_rng(0).normal(size=(3, 1, 1, 2, 4)).astype("float32")
    q[..., 2] = np.nan
    mask = np.array([[True, True], [False, False]])
    (out,) = in_pytensor(attention(q, k, v, mask), [q, k, v, mask])
    assert np.isnan(out[0, 0, 0]).all()
    np.testing.assert_array_equal(out[0, 0, 1], 0)


def test_a_past_of_keys_alone():
    q, k, v, past = np.zeros((4, 1, 1, 2, 4), "float32")
    with pytest.raises(ImportedOpError, match="only one of past_key and past_value"):
        from_onnx(attention(q, k, v, None, past))


def test_an_unknown_stage_of_the_scores():
    q = np.zeros((1, 1, 2, 4), "float32")
    with pytest.raises(ImportedOpError, match="qk_matmul_output_mode is -1; there are 0 to 3"):
        from_onnx(attention(q, q, q, qk_matmul_output_mode=-1))
