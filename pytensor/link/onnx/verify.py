"""Comparison of an exported model with the PyTensor graph it came from."""

import numpy as np

from pytensor.link.onnx.errors import VerificationError

# (relative, absolute) by dtype; everything else must be equal.
TOLERANCES = {"float16": (1e-2, 1e-2), "float32": (1e-3, 1e-4), "float64": (1e-6, 1e-8)}


def verify_model(model, output_names, sample, expected):
    """Run a model in onnxruntime and compare its outputs with `expected`.

    Parameters
    ----------
    model : bytes or str
        A serialized model, or the path of one.
    output_names : list of str
    sample : dict of str to ndarray
    expected : list of ndarray

    Raises
    ------
    VerificationError
        For the first output that differs, with its absolute and relative error.
    """
    import onnxruntime

    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    results = session.run(output_names, sample)
    for name, result, wanted in zip(output_names, results, expected, strict=True):
        wanted = np.asarray(wanted)
        if (result.dtype, result.shape) != (wanted.dtype, wanted.shape):
            raise VerificationError(
                f"output {name!r} is {result.dtype}{list(result.shape)} in onnxruntime, "
                f"{wanted.dtype}{list(wanted.shape)} in PyTensor"
            )
        rtol, atol = TOLERANCES.get(wanted.dtype.name, (0, 0))
        if np.allclose(result, wanted, rtol=rtol, atol=atol, equal_nan=wanted.dtype.kind == "f"):
            continue
        absolute = np.abs(result.astype("float64") - wanted.astype("float64"))
        relative = absolute / np.maximum(np.abs(wanted.astype("float64")), 1e-30)
        raise VerificationError(
            f"output {name!r} differs: absolute error {np.nanmax(absolute):.3g} "
            f"(allowed {atol:g}), relative error {np.nanmax(relative):.3g} (allowed {rtol:g})"
        )
