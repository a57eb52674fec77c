import pytensor.link.onnx.dispatch.random.basic
import pytensor.link.onnx.dispatch.random.continuous
import pytensor.link.onnx.dispatch.random.discrete
import pytensor.link.onnx.dispatch.random.draws
import pytensor.link.onnx.dispatch.random.gamma
import pytensor.link.onnx.dispatch.random.hash
import pytensor.link.onnx.dispatch.random.integers
import pytensor.link.onnx.dispatch.random.multivariate
import pytensor.link.onnx.dispatch.random.order
import pytensor.link.onnx.dispatch.random.pymc
import pytensor.link.onnx.dispatch.random.seed
import pytensor.link.onnx.dispatch.random.vonmises  # noqa: F401
