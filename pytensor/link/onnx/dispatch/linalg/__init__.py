import pytensor.link.onnx.dispatch.linalg.basic
import pytensor.link.onnx.dispatch.linalg.blocks
import pytensor.link.onnx.dispatch.linalg.eigh
import pytensor.link.onnx.dispatch.linalg.equations
import pytensor.link.onnx.dispatch.linalg.expm
import pytensor.link.onnx.dispatch.linalg.lu
import pytensor.link.onnx.dispatch.linalg.qr
import pytensor.link.onnx.dispatch.linalg.refused
import pytensor.link.onnx.dispatch.linalg.svd
import pytensor.link.onnx.dispatch.linalg.triangular
import pytensor.link.onnx.dispatch.linalg.tridiagonal  # noqa: F401
