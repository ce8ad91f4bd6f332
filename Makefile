# The main targets are `make reproduce` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
JOBS   ?= 2

.PHONY: help install reproduce report test test-faults lint types bench robustness mutation-test update-lock update-readme clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*##/\1 -/p' $(MAKEFILE_LIST)

$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

install: $(VENV)/.installed  ## create .venv with the locked versions and this checkout, editable

reproduce: install  ## run all results, print the scoreboard, write the report
	$(BIN)/bythebook reproduce
	$(BIN)/bythebook report

report: install  ## write the report from recorded runs
	$(BIN)/bythebook report

test: install lint types  ## lint, types, tests
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(JOBS) --dist worksteal --quiet

test-faults: install  ## fault-injection tests, about an hour; BYTHEBOOK_SOAK=2 BYTHEBOOK_KILLS=20 for fewer
	$(BIN)/python -m pytest -m faults --quiet --capture=no

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

$(VENV)/.peers: $(VENV)/.installed requirements-bench.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-bench.lock
	touch $@

bench: $(VENV)/.peers  ## compare the speed with other packages, PART=hmm for one part; docs/benchmarks.md
	$(BIN)/python -m benchmarks $(PART)

robustness: install  ## rerun stochastic results with 20 seeds; docs/robustness.md
	$(BIN)/bythebook robustness --seeds 20 --markdown > docs/robustness.new; mv docs/robustness.new docs/robustness.md

mutation-test: install  ## plant faults into the models and count the detected ones, hours; docs/mutation_testing.md
	$(BIN)/python -m tools.mutation_testing --jobs $(JOBS) --page docs/mutation_testing.md

update-readme: install  ## write the scoreboard of the recorded runs into the README
	$(BIN)/python tools/update_readme.py

update-lock: ## resolve the versions of all packages again
	$(PYTHON) tools/update_lockfiles.py

clean:  ## remove the environment, not the recorded runs
	rm -rf $(VENV) build src/*.egg-info
