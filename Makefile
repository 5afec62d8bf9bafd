# Sets rlcc up in .venv, runs it, tests it. Each step leaves a stamp, so what is done is not done again and needs no network.

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
UV := $(BIN)/uv
INSTALL := $(UV) pip install --quiet --python $(BIN)/python
# Compiles the checkout, as an editable wheel, then installs it. The argument: settings of CMake, as a Python dictionary.
# The hook is called without uv, which would wait until the packages are there; ninja has both processors meanwhile.
# It would ask NumPy for its headers, which we do without: half of NumPy may be there while packages are installed.
EDITABLE := build/editable
BUILD := import sys; sys.modules["numpy"] = None; from scikit_build_core.build import build_editable
define NATIVE
@rm -rf $(EDITABLE) && mkdir -p $(EDITABLE)
@MAKEFLAGS= $(BIN)/python -c '$(BUILD); build_editable("$(EDITABLE)", $(1))' \
  >build/native.log 2>&1 || { cat build/native.log >&2; exit 1; }
@$(INSTALL) --offline --no-deps --reinstall-package rlcc $(EDITABLE)/*.whl
endef

RECIPE ?= recipes/demo.toml
PYTEST_FLAGS ?= -n 2 --dist loadfile
# How skipped tests are judged: .ci/run lets none be skipped but those of tests/expected_skips.toml.
SKIPS ?=
LOCK_FLAGS ?=
export UV_HTTP_TIMEOUT ?= 300
# Python compiles each module once, also where the caller forbids it to write what it compiled.
unexport PYTHONDONTWRITEBYTECODE

CXX_PATTERNS := '*.c' '*.cc' '*.cpp' '*.h' '*.hpp'
CXX_SOURCES = $(shell git ls-files -- $(CXX_PATTERNS) ':!fixtures' ':!tests')
# Which modules there are: an editable installation knows those of its day, so other ones are installed anew.
MODULES := $(STAMPS)/modules-$(shell find codegen decision distill emulator netsim rlcc teachers verify -name '*.py' 2>/dev/null | LC_ALL=C sort | cksum | cut -d ' ' -f 1)
NATIVE_SOURCES := $(shell find netsim/core emulator/fast/core teachers/core decision/include -type f 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-checked test-lowest test-newest test-aarch64 test-without-core wheels-there setup setup-test setup-docs setup-exporters doctor lint lint-format lint-python lint-types lint-cxx lock docs bench bench-codegen package sdist check-package epoch publish example doca-firmware doca-sdk papers clean

help:
	@echo 'make demo     set up, then turn the RL-CC teacher into gated firmware (RECIPE=... for another recipe)'
	@echo 'make test     set up with PyTorch, then run the tests (PYTEST_FLAGS=... for others)'
	@echo 'make test-slow    run every test, the slow ones too, and each property by its whole number of examples'
	@echo 'make test-checked   test the simulator built to check order and conservation at every event'
	@echo 'make test-aarch64   run rlcc on an aarch64 Python by QEMU, compare it with this machine (RUN=runs/rl-cc, SUITE=trixie)'
	@echo 'make test-lowest  run the core tests with the lowest version of each dependency that pyproject.toml allows; test-newest: with the newest'
	@echo 'make doctor   set up, then say what is there and what is missing'
	@echo 'make lint     ruff, mypy, clang-format, cppcheck'
	@echo 'make docs     build the site of the documentation in build/docs, links checked'
	@echo 'make package  build sdist and wheel into dist/ and check both (PYTHON_OF_WHEEL=... for another Python)'
	@echo 'make example  the example repository of docs/example-firmware with firmware of the demo, in build/example'
	@echo 'make doca-sdk compile build/doca-pcc (make doca-firmware) by the DPA compiler of an installed DOCA SDK'
	@echo 'make bench    run the benchmarks in bench/'
	@echo 'make bench-codegen  set our code of a model beside other exporters in docs/results/codegen-bench.md'
	@echo 'make papers   write every page of the lab book in papers/ (some hours); make -C papers help: its own commands'
	@echo 'make lock     pin the dependencies of pyproject.toml again (LOCK_FLAGS=--upgrade for newer ones)'
	@echo 'make clean    remove .venv, build/ and caches of the checkout'

demo: setup
	@echo "rlcc run $(RECIPE)"
	$(BIN)/rlcc run $(RECIPE)

test: setup-test
	$(BIN)/python -m pytest $(PYTEST_FLAGS) $(SKIPS)

# Every case, and each property by its whole number of examples: before a release.
test-slow: setup-test
	HYPOTHESIS_PROFILE=wide $(BIN)/python -m pytest $(PYTEST_FLAGS) $(SKIPS) -m "slow or not slow"

# The checked core takes the place of the usual one for these tests only: without its stamp the next setup builds anew.
test-checked: setup-test
	@rm -f $(STAMPS)/native
	$(call NATIVE,{"cmake.define.NETSIM_CHECKED": "ON"})
	@status=0; $(BIN)/python -m pytest $(PYTEST_FLAGS) $(SKIPS) tests/netsim || status=$$?; \
	  $(MAKE) --no-print-directory setup && exit $$status

# Debian's aarch64 Python, the locks' wheels and the modules compiled for it, all under build/aarch64.
# Needs qemu-user and g++-aarch64-linux-gnu.
RUN ?= runs/rl-cc
SUITE ?= trixie

test-aarch64: setup $(RUN)/student
	$(BIN)/python tests/aarch64 $(RUN) --suite $(SUITE)

# On a machine of that kind itself: what is quick and needs no Verilator.
test-without-core: setup-test
	$(BIN)/python -m pytest $(PYTEST_FLAGS) $$($(BIN)/python tests/aarch64/quick.py)

# That every locked package has a wheel, as pip would take it, on each machine and Python (docs/reference/platforms.md).
wheels-there: $(STAMPS)/installer
	@for python in 3.11 3.12 3.13 3.14; do for platform in x86_64-manylinux_2_28 aarch64-manylinux_2_38; do \
	  echo "$$platform, Python $$python"; \
	  $(UV) pip install --quiet --dry-run --target build/none --python-version $$python --python-platform $$platform \
	    --require-hashes --only-binary :all: --no-deps -r requirements/test.lock || exit 1; done; done

# The ends of the ranges in pyproject.toml, each in a fresh environment of its own: no lock is read.
ENDS := build/ends
CORE_TESTS ?= tests/decision tests/codegen/frontends tests/distill/test_quantise.py tests/teachers/test_load.py \
  tests/teachers/test_adam.py

test-lowest: RESOLUTION := lowest-direct
test-newest: RESOLUTION := highest
test-lowest test-newest: $(STAMPS)/installer
	@mkdir -p $(ENDS) && $(UV) venv --quiet --clear --python $(BIN)/python $(ENDS)/$@
	$(UV) pip install --quiet --python $(ENDS)/$@/bin/python --only-binary :all: --resolution $(RESOLUTION) \
	  -r pyproject.toml --extra all --extra test --group build
	PATH="$(CURDIR)/$(ENDS)/$@/bin:$$PATH" $(UV) pip install --quiet --python $(ENDS)/$@/bin/python --offline \
	  --no-build-isolation --no-deps --config-settings=build-dir=$(ENDS)/$@/native --editable .
	$(UV) pip freeze --python $(ENDS)/$@/bin/python >$(ENDS)/$@.txt
	$(ENDS)/$@/bin/python -m pytest $(PYTEST_FLAGS) $(CORE_TESTS)

doctor: setup
	$(BIN)/rlcc doctor

# --- setting up ---------------------------------------------------------------------------------------------------

# One at a time: a demo and the tests may be started together in a fresh checkout.
# Two jobs: packages are fetched while the simulator is compiled.
SET_UP = @mkdir -p build; $(if $(shell command -v flock),flock build/setup.lock) $(MAKE) -s -j2 --no-print-directory

setup:
	+$(SET_UP) $(STAMPS)/native $(STAMPS)/demo
setup-test:
	+$(SET_UP) $(STAMPS)/native $(STAMPS)/test
setup-docs:
	+$(SET_UP) $(STAMPS)/native $(STAMPS)/docs
setup-exporters:
	+$(SET_UP) $(STAMPS)/native $(STAMPS)/test $(STAMPS)/bench

# What was set up with a Python that is gone, or in a checkout that was moved since, is set up again.
ifneq ($(wildcard $(STAMPS)/installer),)
ifneq ($(shell $(BIN)/python -c 'print("runs")' 2>/dev/null) $(or $(shell cat $(STAMPS)/installer),$(CURDIR)),runs $(CURDIR))
$(shell rm -rf $(STAMPS))
endif
endif

INSTALL_UV := install --quiet --disable-pip-version-check --require-hashes --only-binary :all:
# A pip that installs into another environment. Where Python has none, the environment gets one of its own, in 6 CPU s.
PIP_SERVES := import pip; raise SystemExit(tuple(map(int, pip.__version__.split(".")[:2])) < (22, 3))

$(STAMPS)/installer: requirements/installer.lock requirements/system.sh
	@python=$$(sh requirements/system.sh) && echo "setup: .venv with $$python" && \
	  "$$python" -m venv --clear --without-pip $(VENV) && \
	  if "$$python" -c '$(PIP_SERVES)' 2>/dev/null; then "$$python" -m pip --python $(BIN)/python $(INSTALL_UV) -r $<; \
	  else $(BIN)/python -m ensurepip >/dev/null && $(BIN)/python -m pip $(INSTALL_UV) -r $<; fi
	@mkdir -p $(STAMPS) && echo '$(CURDIR)' >$@

$(STAMPS)/build: requirements/build.lock $(STAMPS)/installer
	@$(INSTALL) --require-hashes --only-binary :all: --no-deps -r $<
	@touch $@

# Where set-up did without, the environment gets the pip that lies with Python: messages say `pip install`.
BUNDLED_PIP := import ensurepip, pathlib; print(*pathlib.Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl"))

$(STAMPS)/demo: requirements/demo.lock $(STAMPS)/build
	@echo 'setup: packages'
	@$(INSTALL) --require-hashes --only-binary :all: --no-deps -r $<
	@$(BIN)/python -c 'import pip' 2>/dev/null || \
	  $(INSTALL) --offline --no-deps "$$($(BIN)/python -c '$(BUNDLED_PIP)')" 2>/dev/null || \
	  $(BIN)/python -m ensurepip >/dev/null
	@touch $@

$(STAMPS)/test: requirements/test.lock $(STAMPS)/demo
	@echo 'setup: PyTorch and the test and lint tools'
	@$(INSTALL) --require-hashes --only-binary :all: --no-deps -r $<
	@touch $@

# What builds the site of the documentation.
$(STAMPS)/docs: requirements/docs.lock $(STAMPS)/demo
	@echo 'setup: Sphinx'
	@$(INSTALL) --require-hashes --only-binary :all: --no-deps -r $<
	@touch $@

# Other exporters of trees; the models that they read are made with LightGBM, which the tests bring. One has no wheel.
$(STAMPS)/bench: requirements/bench.lock $(STAMPS)/test
	@echo 'setup: other exporters'
	@$(INSTALL) --require-hashes --no-deps -r $<
	@touch $@

$(MODULES): $(STAMPS)/build
	@rm -f $(STAMPS)/modules-*
	@touch $@

$(STAMPS)/native: $(NATIVE_SOURCES) pyproject.toml $(STAMPS)/build $(MODULES)
	@echo 'setup: native simulator'
	$(call NATIVE,{})
	@touch $@

# --- checking -----------------------------------------------------------------------------------------------------

lint: lint-format lint-python lint-types lint-cxx

lint-format: setup-test
	$(BIN)/ruff format --check .
	@$(BIN)/clang-format --dry-run -Werror $(CXX_SOURCES)

lint-python: setup-test
	$(BIN)/ruff check .

lint-types: setup-test
	$(BIN)/mypy

lint-cxx: setup-test
	$(BIN)/cppcheck --quiet --std=c++20 --enable=warning,performance,portability --inline-suppr \
	  -D'NB_MODULE(name, variable)=void name(nanobind::module_ &variable)' --suppress=missingIncludeSystem \
	  --error-exitcode=1 $(filter %.c %.cc %.cpp,$(CXX_SOURCES))

# Sources alone decide the bytes: the time in them is the last commit's. abi3audit looks at wheels of the stable ABI.
PYTHON_OF_WHEEL ?= $(BIN)/python
CHECKERS = $(UV) run --quiet --no-project --isolated --with-requirements requirements/package.lock
package sdist epoch: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)

package: sdist
	$(UV) build --quiet --wheel --python $(PYTHON_OF_WHEEL) --out-dir dist $$(ls dist/*.tar.gz)
	@$(MAKE) --no-print-directory check-package

sdist: $(STAMPS)/installer
	@rm -rf dist
	$(UV) build --quiet --sdist --python $(PYTHON_OF_WHEEL) --out-dir dist .

check-package: $(STAMPS)/installer
	$(CHECKERS) twine check --strict dist/*.whl dist/*.tar.gz
	@! ls dist/*-abi3-*.whl >/dev/null 2>&1 || $(CHECKERS) abi3audit --strict --verbose dist/*-abi3-*.whl

# For builds by other means, as a line of an environment file.
epoch:
	@echo "SOURCE_DATE_EPOCH=$$SOURCE_DATE_EPOCH"

# By the identity of the CI job that runs it (OpenID Connect): there is no token.
publish: $(STAMPS)/installer
	$(UV) publish --trusted-publishing always dist/*.whl dist/*.tar.gz

# The example repository with the firmware of the demo in it, as somebody would keep it.
example: demo
	@rm -rf build/example && mkdir -p build/example/reference
	cp -r docs/example-firmware/. runs/rl-cc/firmware runs/rl-cc/certificate build/example
	cp -r fixtures/teachers/rl-cc-mlp build/example/teacher
	cp runs/rl-cc/verdict/verdict.json build/example/reference

# The demo's student for DOCA PCC, then compiled where the SDK is, against its headers. The second needs no Python.
DOCA ?= /opt/mellanox/doca
DPACC ?= $(DOCA)/tools/dpacc
DOCA_FLAGS := -DRLCC_WITH_DOCA_SDK,-DE_MODE_LE,-ffreestanding,-mabi=lp64,-mcmodel=medany,-mno-relax,-nostdlib,-O2,-Wall,-Wextra,-Werror,-Wdouble-promotion

doca-firmware: setup runs/rl-cc/student
	$(BIN)/rlcc emit runs/rl-cc/student --target doca-pcc --out build/doca-pcc

doca-sdk:
	$(DPACC) build/doca-pcc/rlcc_policy.c build/doca-pcc/rlcc_doca_pcc.c -o build/doca-pcc/rlcc.a -hostcc=gcc \
	  --app-name=rlcc --devicecc-options=$(DOCA_FLAGS),-I$(DOCA)/include,-Ibuild/doca-pcc

# Anew each time: a page that is gone must not be found. Warnings, as of a link that leads nowhere, are errors.
docs: setup-docs
	@rm -rf build/docs
	$(BIN)/sphinx-build -q -n -W --keep-going -c docs/_site -d build/docs/.doctrees . build/docs/html
	@$(BIN)/python docs/_site/links.py build/docs/html

bench: setup
	@for file in bench/*.py; do name=bench.$$(basename "$$file" .py); echo "== $$name"; $(BIN)/python -m "$$name" || exit 1; done

bench-codegen: setup-exporters
	$(BIN)/python -m bench.codegen

papers:
	$(MAKE) -C papers pages

runs/rl-cc/student:
	$(MAKE) demo

# --- pinning ------------------------------------------------------------------------------------------------------
# One version of a package for all Pythons, wheels only, with hashes, and no word of where they come from.

COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --only-binary :all: \
  --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' $(LOCK_FLAGS)

# What the recipes run with.
DEMO := distill evaluate formats verify

# A lock that comes out as it was is not touched: what is installed from it stays.
define LOCK
	@mkdir -p build && cp requirements/$(1).lock build/$(1).lock 2>/dev/null || true
	$(COMPILE) $(2) -o build/$(1).lock
	@cmp -s build/$(1).lock requirements/$(1).lock && rm build/$(1).lock || mv build/$(1).lock requirements/$(1).lock
endef

lock: $(STAMPS)/installer
	$(call LOCK,test,pyproject.toml --all-extras)
	$(call LOCK,demo,pyproject.toml $(DEMO:%=--extra %) --constraints requirements/test.lock)
	$(call LOCK,build,--group build --constraints requirements/test.lock)
	$(call LOCK,installer,--group installer)
	$(call LOCK,docs,--group docs --constraints requirements/test.lock)
	$(call LOCK,package,--group package)
	$(call LOCK,bench,--group bench --no-binary micromlgen --constraints requirements/test.lock)

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
