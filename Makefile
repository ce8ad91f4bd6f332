# Two commands do everything: `make reproduce` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
JOBS   ?= 2

.PHONY: help install reproduce report test test-faults lint types bench robustness mutants lock readme clean

help:  ## what there is
	@sed -n 's/^\([a-z-]*\):.*##/\1 -/p' $(MAKEFILE_LIST)

$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

install: $(VENV)/.installed  ## .venv with the locked versions and this checkout in place

reproduce: install  ## run every experiment, print the scoreboard, write the report
	$(BIN)/bythebook reproduce
	$(BIN)/bythebook report

report: install  ## write the report from recorded runs
	$(BIN)/bythebook report

test: install lint types  ## lint, types, tests
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(JOBS) --dist worksteal --quiet

test-faults: install  ## kill, race and starve it for an hour or so, then count; BYTHEBOOK_SOAK=2 BYTHEBOOK_KILLS=20 for less
	$(BIN)/python -m pytest -m faults --quiet --capture=no

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

$(VENV)/.peers: $(VENV)/.installed requirements-bench.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-bench.lock
	touch $@

bench: $(VENV)/.peers  ## speed against the peers, as ratios in one run, or PART=hmm alone; docs/benchmarks.md
	$(BIN)/python -m benchmarks $(PART)

robustness: install  ## repeat what has chance in it with twenty seeds; docs/robustness.md
	$(BIN)/bythebook robustness --seeds 20 --markdown > docs/robustness.new; mv docs/robustness.new docs/robustness.md

mutants: install  ## plant faults into the models, count what notices; long; docs/mutants.md
	$(BIN)/python -m tools.mutants --jobs $(JOBS) --page docs/mutants.md

readme: install  ## put the current scoreboard into the README
	$(BIN)/python tools/readme.py

lock: ## resolve every version anew
	$(PYTHON) tools/lock.py

clean:  ## remove the environment; recorded runs stay
	rm -rf $(VENV) build src/*.egg-info
