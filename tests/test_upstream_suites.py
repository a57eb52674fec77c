"""How `.ci/upstream_suites` counts what PyTensor's own tests say."""

import numpy as np
import pytest

from tests.utils import ci_program

suites, comparison = map(ci_program, ("upstream_suites", "upstream_comparison.py"))
EQUAL = {"kind": "equal"}


def facts(outcome, *comparisons, error="", in_test=False, **others):
    given = {"test": "tests/link/numba/test_x.py::test", "outcome": outcome, "compiled": 1}
    return given | {
        "comparisons": [*comparisons], "kind": "error", "error": error, "in_test": in_test,
    } | others  # fmt: skip


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (facts("passed", EQUAL), "equal"),
        (facts("failed", EQUAL, error="AssertionError: assert {} == {0: [0]}"), "equal"),
        (facts("passed", compiled=0), "set aside"),
        (facts("failed", EQUAL, {"kind": "dtypes", "error": ""}), "other dtypes"),
        (facts("failed", error="AssertionError: Not equal to tolerance rtol=1e-7"), "other values"),
        (
            facts("failed", error="E: No JAX conversion for the given `Op`: QZ{sort=None}"),
            "no conversion of QZ",
        ),
        (facts("failed", error="IndexError: out of bounds"), "IndexError"),
        (facts("failed", error="a", in_test=True), "asks for a detail of the other linker"),
        (facts("ended the process"), "ended the process"),
    ],
)
def test_kinds(given, kind):
    assert suites.kind_of(given) == kind


def test_factors_are_equal_if_their_product_is():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(2, 4, 3))
    q, r = np.linalg.qr(a)
    signs = np.array([1, -1, -1])
    product, inner = comparison.product_of_qr(q * signs, signs[:, None] * r)
    np.testing.assert_allclose(product, a)
    np.testing.assert_allclose(inner, np.broadcast_to(np.eye(3), (2, 3, 3)), atol=1e-12)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    np.testing.assert_allclose(comparison.product_of_svd(u * signs, s, signs[:, None] * vh)[0], a)
    assert not np.allclose(comparison.product_of_svd(u * signs, s, vh)[0], a)
