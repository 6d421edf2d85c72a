# `make demo` and `make test` do everything that they need, from a fresh clone on: see README.md.
# Needed beforehand: Python 3.11 or newer, make, and gcc or clang.
# A missing one is reported with what to install and exit status 3; make itself then ends with status 2,
# as it does for every recipe that fails.

VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?= -n 2 --dist worksteal

# The first interpreter that is new enough and can create virtual environments.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	command -v $$p >/dev/null 2>&1 && \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && \
	{ echo $$p; break; }; done)

.DEFAULT_GOAL := help
.PHONY: help demo test slow proof explore lint types layers fmt check clean compiler

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

demo: compiler $(VENV)/ready ## tune the demo kernels and print what was gained
	@$(BIN)/python benchmarks/demo.py

test: compiler $(VENV)/ready-dev ## run the tests: every kind of them, in about five minutes on two cores
	@$(BIN)/python -m pytest $(PYTEST_ARGS) -m 'not proof'

slow: compiler $(VENV)/ready-dev ## run the tests that `make test` leaves out
	@$(BIN)/python -m pytest $(PYTEST_ARGS) -m proof

proof: test slow ## run all tests

explore: compiler $(VENV)/ready-dev ## run the tests with other random examples than usual
	@HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest $(PYTEST_ARGS) -m ''

lint: $(VENV)/ready-dev ## check style and formatting
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

types: $(VENV)/ready-dev ## check types (pyright, strict)
	@$(BIN)/pyright

layers: $(VENV)/ready-dev ## check that imports point down
	@$(BIN)/lint-imports

fmt: $(VENV)/ready-dev ## format and sort imports
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

check: lint types layers proof ## all of the above that check

clean: ## remove what the other targets made
	rm -rf $(VENV) demo-output dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage
	find orio_py tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps are older than pyproject.toml after a change of the dependencies, and everything is set up again.
$(VENV)/ready: pyproject.toml
	@test -n "$(PYTHON)" || { \
	  echo 'orio_py needs Python 3.11 or newer with the venv module, and found none.  Install one of:'; \
	  echo '  Debian, Ubuntu   apt install python3 python3-venv'; \
	  echo '  Fedora, RHEL     dnf install python3.12'; \
	  echo '  macOS            brew install python@3.12'; \
	  echo '  conda            conda create -n orio python=3.12 && conda activate orio'; \
	  echo 'or name it: make PYTHON=/path/to/python3.  (exit status 3)'; exit 3; } >&2
	@echo "setting up $(VENV) with $$($(PYTHON) --version) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/ready-dev: $(VENV)/ready
	@echo 'installing the test and lint tools ...'
	@$(BIN)/python -m pip install --quiet --group dev
	@$(BIN)/python -m pip install --quiet --only-binary pyopencl,pocl-binary-distribution --editable '.[opencl]' || \
	  echo 'PyOpenCL and PoCL have no wheels for this system: the tests that need OpenCL will be skipped.'
	@$(BIN)/python -m pip install --quiet --only-binary cuda-bindings,nvidia-cuda-nvrtc,nvidia-cuda-nvdisasm --editable '.[cuda]' || \
	  echo 'NVRTC has no wheels for this system: the tests that compile CUDA will be skipped.'
	@touch $@

# Compiles a program rather than looking for a name: some systems have a `gcc` that only asks to be installed.
compiler:
	@for c in gcc clang cc; do \
	  command -v $$c >/dev/null 2>&1 && \
	  printf '#include <stdlib.h>\nint main(void) { return abs(0); }\n' | $$c -x c -o /dev/null - 2>/dev/null && \
	  exit 0; done; { \
	  echo 'orio_py needs a C compiler, and found no working gcc, clang or cc.  Install one of:'; \
	  echo '  Debian, Ubuntu   apt install gcc libc6-dev'; \
	  echo '  Fedora, RHEL     dnf install gcc'; \
	  echo '  macOS            xcode-select --install     (or: brew install gcc)'; \
	  echo '  conda            conda install -c conda-forge c-compiler'; \
	  echo '(exit status 3)'; } >&2; exit 3
