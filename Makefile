# Needs make and Python 3.11 or newer; everything else goes into .venv inside this folder.
#   make run ARGS="--port 8000"      make test ARGS="tests/test_layout.py" SEED=7      make test NO_BROWSER=1

PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
# Ray lies beside .venv and reads its packages: nothing of it is in the way of a page without a cluster.
RAY    := .venv-ray
CPUS   ?= 4
ARGS   ?=
# The browser of the browser tests: CHROMIUM=/path/to/it, else the first of these names that is installed.
NAMES  := chromium chromium-browser google-chrome google-chrome-stable

.DEFAULT_GOAL := help
.PHONY: help run test exhaustive bench shots lint chromium ray ray-env ray-test ray-bench

help:
	@echo "make run         start the page at http://127.0.0.1:7860        (ARGS=\"--port 8000\")"
	@echo "make test        run all tests                                  (NO_BROWSER=1, SEED=7, ARGS=\"-k name\")"
	@echo "make exhaustive  all tests, on every case instead of a sample"
	@echo "make bench       measure against plain generate"
	@echo "make shots       pictures of every tab: light, dark, phone, German, in shots/"
	@echo "make lint        check the style"
	@echo "make ray         a Ray cluster on this machine, until Ctrl-C    (CPUS=4); then: make run ENGINE=ray"
	@echo "make ray-env     install Ray beside .venv"
	@echo "make ray-test    install Ray beside .venv, and run its tests"
	@echo "make ray-bench   measure Ray against this process"

run: $(VENV)/run.stamp $(if $(filter ray,$(ENGINE)),$(RAY)/ray.stamp)
	$(if $(filter ray,$(ENGINE)),ENGINE=ray $(RAY)/bin/python,$(PY)) -m app $(ARGS)

test: $(VENV)/test.stamp chromium
	@CHROMIUM="$$($(find_chromium))" $(PY) -m pytest -n auto --maxprocesses 4 --dist loadfile $(ARGS)

exhaustive: export EXHAUSTIVE = 1
exhaustive: test

bench: $(VENV)/test.stamp
	@CHROMIUM="$$($(find_chromium))" $(PY) -m tests.bench $(ARGS)

shots: $(VENV)/test.stamp chromium
	@CHROMIUM="$$($(find_chromium))" $(PY) -m tests.shots $(ARGS)

lint: $(VENV)/test.stamp
	$(PY) -m ruff check .

ray: $(RAY)/ray.stamp
	RAY_USAGE_STATS_ENABLED=0 $(RAY)/bin/ray start --head --block --num-cpus=$(CPUS) --include-dashboard=false \
	  --object-store-memory=200000000 --disable-usage-stats

ray-env: $(RAY)/ray.stamp

ray-test: $(VENV)/test.stamp $(RAY)/ray.stamp
	OMP_NUM_THREADS=1 $(RAY)/bin/python -m pytest -p no:warnings tests/ray $(ARGS)

ray-bench: $(VENV)/test.stamp $(RAY)/ray.stamp
	OMP_NUM_THREADS=1 $(RAY)/bin/python -m tests.bench.cluster $(ARGS)

# A stamp is newer than the requirements it was made from, so a second call installs nothing.
$(VENV)/run.stamp: requirements.txt
	@$(make_venv)
	$(PY) -m pip install --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/test.stamp: $(VENV)/run.stamp requirements-dev.txt
	$(PY) -m pip install --disable-pip-version-check -r requirements-dev.txt
	@touch $@

$(RAY)/ray.stamp: $(VENV)/run.stamp requirements-ray.txt
	$(PY) -m venv --clear $(RAY)
	@$(PY) -c "import sysconfig; print(sysconfig.get_path('purelib'))" > \
	  "$$($(RAY)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/two-stacks.pth"
	$(RAY)/bin/python -m pip install --disable-pip-version-check -r requirements-ray.txt
	@touch $@

# Keeps a .venv that works; makes it anew when it is absent, broken, or older than 3.11.
define make_venv
check='import sys; sys.exit(sys.version_info < (3, 11))'; \
if ! $(PY) -c "import pip; $$check" 2>/dev/null; then \
  command -v $(PYTHON) >/dev/null || \
    { echo "Two Stacks needs Python 3.11 or newer, and there is no $(PYTHON) here."; exit 1; }; \
  $(PYTHON) -c "$$check" || \
    { echo "Two Stacks needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Name another one: make run PYTHON=python3.12"; exit 1; }; \
  $(PYTHON) -m venv --clear $(VENV) || \
    { rm -rf $(VENV); echo "Python could not make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }; \
fi
endef

# Prints the path of the browser, or nothing.
find_chromium = if [ -n "$(CHROMIUM)" ]; then command -v "$(CHROMIUM)"; else \
  for name in $(NAMES); do command -v $$name && break; done; fi || true

# Debian's own package where we may install it, else a sentence. NO_BROWSER=1 goes on without: browser tests are then skipped.
chromium:
	@[ -n "$(filter-out 0,$(NO_BROWSER))" ] || [ -n "$$($(find_chromium))" ] || { \
	  if [ -z "$(CHROMIUM)" ] && grep -qs '^ID=debian' /etc/os-release; then \
	    if [ "$$(id -u)" = 0 ]; then as=; else as="sudo -n"; fi; \
	    if [ -z "$$as" ] || sudo -n true 2>/dev/null; then \
	      echo "Installing Chromium for the browser tests ..."; \
	      $$as apt-get update -q && $$as env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends chromium; \
	    fi; \
	  fi; \
	  [ -n "$$($(find_chromium))" ] || { \
	    echo "The browser tests need Chromium, and none was found$(if $(CHROMIUM), at $(CHROMIUM))."; \
	    echo "Install it (Debian: apt-get install chromium; Fedora: dnf install chromium; Ubuntu: snap install chromium),"; \
	    echo "or name a Chrome you have (make test CHROMIUM=/path/to/chrome), or go without: make test NO_BROWSER=1"; \
	    exit 1; }; \
	}
