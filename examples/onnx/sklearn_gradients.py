"""Gradients of a scikit-learn pipeline: which changes of a sample would change its class.

scikit-learn has no gradients.  skl2onnx writes the pipeline as ONNX, and what is read from there is
a graph with them; finite differences of scikit-learn's own probabilities say the same.
`pip install scikit-learn skl2onnx jax` first.
"""

import numpy as np
from skl2onnx import to_onnx
from sklearn.datasets import load_wine
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
from pytensor.link.onnx import from_onnx

data = load_wine()
X, y = data.data, data.target
pipeline = make_pipeline(
    StandardScaler(), MLPClassifier([16], activation="tanh", max_iter=2000, random_state=0)
).fit(X, y)
# float64, which differences need; without zipmap, probabilities are an array and no dictionaries
model = to_onnx(pipeline, X[:1], options={"zipmap": False})
with open("wine.onnx", "wb") as file:
    file.write(model.SerializeToString())

network = from_onnx("wine.onnx")
[x] = network.inputs.values()
probabilities = network.outputs["probabilities"]
chosen, sample = 1, X[130:131]
gradient = pytensor.function([x], pt.grad(probabilities[0, chosen], x), mode=jax_mode())(sample)[0]

deviations = X.std(axis=0)
steps = 1e-4 * np.diag(deviations)
higher, lower = (pipeline.predict_proba(sample + sign * steps)[:, chosen] for sign in (1, -1))
differences = (higher - lower) / (2 * steps.diagonal())
np.testing.assert_allclose(gradient, differences, rtol=1e-4, atol=1e-8)
print(f"class {y[130]} of probability {pipeline.predict_proba(sample)[0, y[130]]:.3f}")
for k in np.argsort(-np.abs(gradient * deviations))[:3]:
    print(f"d P(class {chosen}) / d {data.feature_names[k]} = {gradient[k]:.2g}")
