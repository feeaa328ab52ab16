# make verify   sets up .venv and verifies every claim into report/
# make test     sets up .venv and runs the tests on two cores
# make test-thorough  runs those that `make test` leaves out (tests/thorough.py)
# make check    formatting, lint, types and the direction of imports
# make coverage  lines and branches of the judges that their tests miss
# make mutation  changes the judges in small ways and lists what no test notices; hours, so
#                make mutation SAMPLE="--sample 40 --seed 1" takes some of them
# make prove    has Coq check every class verdict on record; needs coqc; the table is report-prove/machine_checked.json
# make docs     builds the documentation site into docs/_build/html, its notebooks run; a warning is an error
# make notes    writes the notes on errata as LaTeX into docs/_build/notes; as PDF if there is pdflatex
# make bench    times every case into report-bench/, then the table of targets
#
# PYTHON=python3.12 chooses an interpreter (3.11 or newer). PIP_ARGS is handed to pip: on a machine
# without a GPU, an extra index with torch's CPU build saves gigabytes.

PYTHON ?= python3
PIP_ARGS ?=
SAMPLE ?=
OVER_CLASSES := 'localsgd/*' comfedl/client-drift-class 'fednest/*drift*' fednest/fedsvrg-convex 'fednest/fedinn-*'
BIN := .venv/bin
READY := .venv/.ready

.PHONY: verify test test-thorough check coverage mutation prove docs notes bench clean

verify: $(READY)
	$(BIN)/driftproof verify --profile quick --out report

test: $(READY)
	$(BIN)/pytest -n 2 --dist=worksteal

test-thorough: $(READY)
	$(BIN)/pytest -n 2 --dist=worksteal -m thorough

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

coverage: $(READY)
	$(BIN)/python -m tests.judges

mutation: $(READY)
	$(BIN)/python -m tests.mutation $(SAMPLE)

# 1 of driftproof prove is a certificate that is not machine-checked: the table says which
prove: $(READY)
	$(BIN)/driftproof verify $(OVER_CLASSES) --out report-prove
	$(BIN)/driftproof prove report-prove/certificates/*.json --out report-prove/coq --json \
	  > report-prove/machine_checked.json

docs: $(READY)
	DRIFTPROOF_EXECUTE=1 $(BIN)/sphinx-build -W --keep-going -n -q docs docs/_build/html

notes: $(READY)
	$(BIN)/python -m docs.generate --tex docs/_build/notes
	cd docs/_build/notes && if command -v pdflatex; then for note in *.tex; do pdflatex -interaction=batchmode $$note; done; fi

bench: $(READY)
	$(BIN)/driftproof bench --out report-bench
	$(BIN)/python -m tests.benchmarks.targets report-bench/benchmark.json

# The stamp is newer than what it was made from, so a second call installs nothing.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "got: $$($(PYTHON) --version); wanted: Python 3.11 or newer; remedy: make PYTHON=python3.11 …"; exit 2; }
	$(PYTHON) -m venv .venv
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --disable-pip-version-check $(PIP_ARGS) -e ".[dev]"
	touch $(READY)

clean:
	rm -rf .venv report report-bench docs/_build
