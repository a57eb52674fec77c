"""Log-density of a Bayesian linear regression and its gradient, in double precision.

Any sampler that can call onnxruntime can draw from the posterior with this file alone.
"""

import numpy as np
import onnxruntime

import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx

rng = np.random.default_rng(0)
X = rng.normal(size=(100, 3))
y = X @ [1.0, -2.0, 0.5] + rng.standard_t(4, size=100) / 2

theta = pt.dvector("theta", shape=(5,))  # three coefficients, log of the scale, log of nu - 1
beta, sigma, nu = theta[:3], pt.exp(theta[3]), 1 + pt.exp(theta[4])
z = (y - X @ beta) / sigma
student_t = pt.gammaln((nu + 1) / 2) - pt.gammaln(nu / 2) - 0.5 * pt.log(nu * np.pi) - theta[3]
log_likelihood = (student_t - (nu + 1) / 2 * pt.log1p(z**2 / nu)).sum()
log_prior = -0.5 * (beta**2).sum() - 0.5 * ((theta[3:] - 1) ** 2).sum()
log_density = log_likelihood + log_prior

start = np.zeros(5)
names = ["log_density", "gradient"]
outputs = [log_density, pt.grad(log_density, theta)]
export_onnx(theta, outputs, "regression.onnx", output_names=names, verify=[start])
session = onnxruntime.InferenceSession("regression.onnx")
for _ in range(200):  # uphill, to the mode
    value, gradient = session.run(names, {"theta": start})
    start = start + 0.003 * gradient
print(f"mode near beta = {start[:3].round(2)}, log-density {value:.2f}")
