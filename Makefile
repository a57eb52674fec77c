# What a person and CI call. PYTEST="-n 0" and the like: make fast PYTEST="-n 0 -x"
PYTEST = -n 3 --dist loadfile

.PHONY: test fast long opsets browser lint types structure docs bench release
test: .venv  ## all but the long ones
	.venv/bin/pytest $(PYTEST)
fast: .venv  ## a few minutes
	.venv/bin/pytest $(PYTEST) -m "not slow and not browser and not training"
long: .venv  ## those that the others leave out: hours
	.venv/bin/pytest $(PYTEST) -m long
opsets: .venv  ## those of ONNX, at each operator set and with more examples
	OPSETS=all HYPOTHESIS_PROFILE=ci .venv/bin/pytest $(PYTEST) tests/link/onnx
browser: .venv  ## those in Chromium, and in Firefox
	.venv/bin/pytest $(PYTEST) -m browser
lint: .venv
	.venv/bin/ruff check .
	cd examples/onnx/onnx-yolo-demo && PATH="$(CURDIR)/.venv/bin:$$PATH" npm run --silent check
types: .venv
	.venv/bin/python .ci/types
structure: .venv  ## the table of docs/architecture.md, by running the project: minutes
	.venv/bin/python .ci/structure.py
docs: .venv  ## the site, and the picture of the architecture
	.venv/bin/python -m docs.tools.architecture
	bash .ci/docs
bench: .venv  ## operators beside plain JAX, SciPy and NumPy: minutes
	.venv/bin/python -m benchmarks.package.operators
release: .venv  ## builds, checks and tries the wheel
	.venv/bin/python .ci/release.py
.venv: requirements/lock.txt setup.sh
	bash setup.sh --dev
	touch .venv
