from onnxruntime.capi.onnxruntime_pybind11_state import get_all_opkernel_def

from pytensor.link.onnx.kernels import KERNELS
from pytensor.link.onnx.settings import OPSETS

PARAMETERS = ("T", "T1", "V", "T2")
NAMES = {"float": "float32", "double": "float64"}


def installed_kernels():
    """Map (operator, opset) to the dtypes that the installed onnxruntime has on the CPU."""
    found = {}
    for kernel in get_all_opkernel_def():
        if kernel.domain or kernel.provider != "CPUExecutionProvider":
            continue
        parameter = next((p for p in PARAMETERS if p in kernel.type_constraints), None)
        types = kernel.type_constraints.get(parameter, [])
        dtypes = {t.removeprefix("tensor(").removesuffix(")") for t in types}
        first, last = kernel.version_range
        for opset in OPSETS:
            if first <= opset <= last:
                found.setdefault((kernel.op_name, opset), set()).update(
                    NAMES.get(dtype, dtype) for dtype in dtypes
                )
    return found


def test_the_table_holds_for_the_installed_onnxruntime():
    installed = installed_kernels()
    for op_type, dtypes in KERNELS.items():
        opsets = [opset for opset in OPSETS if (op_type, opset) in installed]
        assert opsets, op_type
        for opset in opsets:
            # float16 without a kernel of its own is cast by onnxruntime.
            missing = dtypes - installed[op_type, opset] - {"float16"}
            assert not missing, (op_type, opset, missing)
