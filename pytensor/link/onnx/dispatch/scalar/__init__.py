import pytensor.link.onnx.dispatch.scalar.arithmetic
import pytensor.link.onnx.dispatch.scalar.basic
import pytensor.link.onnx.dispatch.scalar.bessel
import pytensor.link.onnx.dispatch.scalar.beta
import pytensor.link.onnx.dispatch.scalar.division
import pytensor.link.onnx.dispatch.scalar.erf
import pytensor.link.onnx.dispatch.scalar.float
import pytensor.link.onnx.dispatch.scalar.gamma
import pytensor.link.onnx.dispatch.scalar.gammainc
import pytensor.link.onnx.dispatch.scalar.inverse
import pytensor.link.onnx.dispatch.scalar.logic
import pytensor.link.onnx.dispatch.scalar.loop
import pytensor.link.onnx.dispatch.scalar.math
import pytensor.link.onnx.dispatch.scalar.owens
import pytensor.link.onnx.dispatch.scalar.power
import pytensor.link.onnx.dispatch.scalar.trig  # noqa: F401
