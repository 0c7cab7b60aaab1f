# Two commands for a newcomer: `make demo` and `make test`. The demonstration needs Rust and make alone. The tests
# also need a C++ compiler and python3 with pip; everything else that they need is installed into .deps in this
# checkout. Outside it, only the caches of cargo and pip change.

CARGO  ?= cargo
RUSTC  ?= rustc
PYTHON ?= python3

# What the tests, the lints and the measurements turn on: the same everywhere, so that the library is compiled once
# for all of them. The defaults are tested by .ci/install, a build without any feature by `make test-plain`.
TESTED := --features highs,store

# HiGHS is built from source, with cmake and libclang; Z3 comes ready-made. All three are wheels of PyPI.
# `.cargo/config.toml` tells cargo where they are.
WHEELS := cmake==4.4.4 libclang==18.1.1 z3-solver==5.4.0.0
empty  :=
space  := $(empty) $(empty)
STAMP  := .deps/installed-$(subst $(space),+,$(strip $(WHEELS)))

PROFILE := models/profiles/zb-1.5b-p8-m24-v.toml
BUILT   := $(or $(CARGO_TARGET_DIR),target)/debug
TOOL    := $(BUILT)/bubbleproof
RESULT  := target/demo/schedule.json
TABLE   := target/bench-table
SECONDS := 3

# How `cargo install` builds the programs by others: they run for moments, or are built for longer than they run.
QUICKLY_BUILT := CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=2

# Programs by others that check our proofs of optimality.
PUMPKIN_CHECKER := 0.5.0
VERIPB          := 3.0.2
CHECKERS        := .deps/checkers/installed-$(PUMPKIN_CHECKER)-$(VERIPB)
OPTIMA          := target/certify

# PyTorch runs our schedules. Its wheel is built for CUDA; of NVIDIA's libraries only the small one that tells how
# many GPUs there are is installed, and the others are stood in for: a run on the CPU calls none of them.
TORCH       := 2.15.0
TORCH_NEEDS := nvidia-cuda-runtime==13.2.75 numpy==2.4.6 filelock==4.2.11 typing-extensions==4.16.0 \
               sympy==1.14.0 mpmath==1.3.0 networkx==3.6.1 jinja2==3.1.6 markupsafe==3.0.4 fsspec==2026.9.0
PYTORCH     := .deps/torch-$(TORCH)
# The Python package is tested with an older one, too.
OLDER_TORCH := 2.14.1
TORCHES     := $(TORCH) $(OLDER_TORCH)

# Releases of torchtitan that our files are for, without what only training needs: `tests/torchtitan/absent.py` has
# empty modules for that.
TITANS      := 0.3.0 0.2.2
TITAN_NEEDS := tyro==1.0.17 docstring-parser==0.18.0 typeguard==4.6.0 einops==0.8.2 torchdata==0.11.0 \
               spmd_types==0.2.3 torch_checkpointing==0.1.1
INSTALLED   := $(TITANS:%=.deps/torchtitan-%)

# What `make measure` runs: the standard set, or one schedule with SCHEDULE=file.json. KIND is cpu or cuda; on CUDA
# the PyTorch of $(PYTHON) is used, since ours has no CUDA libraries. OPTIONS are passed on.
KIND      ?= cpu
OPTIONS   ?=
MEASURE   := measure
SCHEDULES := measure/schedules
SET       := $(foreach d,2 4,$(foreach s,1f1b zb-h1 v-min v-half v-zb,$(s)-d$d))
TRACE     ?= target/trace.json
MEASURED  := $(if $(SCHEDULE),$(SCHEDULE) -o $(TRACE),--standard-set $(SCHEDULES) -o target/traces)

# How many random problems `make differential` compares, and which. What disagrees is written to target/differential.
CASES ?= 1000
SEED  ?= 1
JOBS  ?= 2
BRUTE := target/brute

# How many problems `make agree` solves, with CASES altered copies of all certificates; and how many random inputs it gives to
# each function that has a theorem. With less than some hundreds, a sort of answer may never come, which is an error.
GRID      ?= 40
FUNCTIONS ?= 1000

# The Python package: what builds its wheel, with zig as the linker and the C compiler for old glibc; what reads its types
# and its style; and the interpreters in which it is tested.
MATURIN     := 1.16.0
ZIG         := 0.17.1
WHEEL_TOOLS := .deps/wheel-tools-$(MATURIN)-$(ZIG)
USING_WHEEL_TOOLS := PYTHONPATH=$(CURDIR)/$(WHEEL_TOOLS) PATH=$(CURDIR)/$(WHEEL_TOOLS)/bin:$$PATH
PACKAGE     := crates/python
WHEELS_AT   := $(or $(CARGO_TARGET_DIR),target)/wheels
READERS     := mypy==2.4.1 pyright==1.1.414 ruff==0.17.6 pdoc==16.0.0 numpy==2.4.6 pytest==9.2.0
READERS_AT  := .deps/python-lint-$(subst $(space),+,$(strip $(READERS)))
PYTHONS     ?= $(shell .ci/pythons $(PYTHON))

# A second solver checks the proofs. Its wheel is a module of python, and it is needed for nothing else.
CVC5 := .deps/cvc5-1.4.2

# Reads tables in Parquet, for the converter of published traces and its tests.
PARQUET := .deps/pyarrow-26.0.1

# What changes the trusted base to see whether a test notices (cargo-gamma), and what runs libFuzzer (cargo-fuzz).
MUTANTS      := 0.4.0
FUZZER       := 0.13.2
MUTANTS_TOOL := .deps/mutants/installed-$(MUTANTS)
FUZZ_TOOL    := .deps/fuzz/installed-$(FUZZER)

.PHONY: help setup build demo test test-cvc5 test-plain tested-tool browser gallery pictures plans regress lint proofs proofs-cvc5 rocq agree certify interop torchtitan dumps \
        differential measure measure-test schedules bench bench-table mutants mutants-change fuzz \
        wheel wheel-here sdist release pytorch python-test python-torch python-ray python-lint python-docs notebooks

help:
	@echo 'make demo         find a schedule for a measured profile, verify it, show it'
	@echo 'make test         run all tests (with BUBBLEPROOF_LONG=1, on many more random cases)'
	@echo 'make test-cvc5    the tests of SMT solvers with cvc5 instead of Z3'
	@echo 'make test-plain   run what holds without any feature: no solver, no tool'
	@echo 'make browser      check the pages of render and plan in a headless Chromium (installs it, if root on Debian)'
	@echo 'make gallery      redraw docs/gallery.md and its drawings'
	@echo 'make pictures     redraw docs/measured: predicted against measured'
	@echo 'make plans        search for the plans of models/jobs anew'
	@echo 'make build        build target/release/bubbleproof'
	@echo 'make regress      compare the catalogue with its records, then record the changes'
	@echo 'make lint         check format, lints and documentation'
	@echo 'make proofs       rewrite proofs/ and decide every theorem in it'
	@echo 'make proofs-cvc5  ask a second solver about every theorem in proofs/'
	@echo 'make rocq         compile the proofs in Rocq, and say what every theorem rests on'
	@echo 'make agree        compare the checker and the functions that are extracted from the proofs with ours'
	@echo '                  (CASES=n, SEED=s, GRID=n, FUNCTIONS=n)'
	@echo 'make differential compare with independent programs on random problems (CASES=n, SEED=s, JOBS=n)'
	@echo 'make interop      run schedules in PyTorch, and show that those which are refused fail there'
	@echo 'make torchtitan   load what convert writes for torchtitan in its releases, and split a model by it'
	@echo 'make measure      measure pipelines that really run (KIND=cuda on a GPU), into target/traces'
	@echo 'make measure-test test the script that measures'
	@echo 'make wheel        build the Python package into target/wheels'
	@echo 'make wheel-here   the same for this machine alone, without optimisation across crates'
	@echo 'make python-test  install the wheel into fresh virtual environments and test it (PYTHONS="python3.10 ...")'
	@echo 'make python-torch test it with every supported PyTorch, and train with it'
	@echo 'make python-ray   test sweeps on a cluster of Ray on this machine'
	@echo 'make python-lint  check types, style and documentation of the Python package'
	@echo 'make python-docs  write its reference to target/python-docs'
	@echo 'make release      build everything that a release has into target/release-files (TAG=v1.2.3)'
	@echo 'make bench        measure replay and block solving'
	@echo 'make bench-table  optimise a grid of problems (ONLY=text in their names), check every certificate without a solver'
	@echo 'make certify      prove optima and check the proofs with two third-party checkers'
	@echo 'make mutants      change every line of the trusted base and see whether a test fails (goes on where it stopped)'
	@echo 'make fuzz         fuzz every reader and every check, SECONDS=n each'
	@echo 'make setup        install what HiGHS and the tests need into .deps (the others do this by themselves)'

setup: $(STAMP)

# Unpacked aside and renamed, so that an interrupted installation is not taken for a whole one.
$(STAMP):
	@echo 'installing $(WHEELS) into .deps/py'
	@rm -rf .deps && mkdir -p .deps
	@PIP_ROOT_USER_ACTION=ignore $(PYTHON) -m pip install --quiet --disable-pip-version-check --no-warn-script-location \
	    --target .deps/py.part $(WHEELS)
	@mv .deps/py.part .deps/py
	@touch $@

build:
	$(CARGO) build --release

demo:
	$(CARGO) build
	@mkdir -p $(dir $(RESULT))
	$(TOOL) optimize $(PROFILE) --memory 75% --time-limit 20 -o $(RESULT)
	$(TOOL) verify $(RESULT) --model $(PROFILE) --memory 75%
	$(TOOL) render $(RESULT) --model $(PROFILE) --memory 75%

# Not the examples, which no test runs: the lints check them.
test: setup
	$(CARGO) test --workspace $(TESTED) --lib --bins --tests
	$(CARGO) test --workspace $(TESTED) --doc

# Asks cvc5, as a program behind a pipe, where the other tests ask Z3. Installs it, if root on Debian.
test-cvc5: setup
	command -v cvc5 > /dev/null || { apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends cvc5 > /dev/null; }
	BUBBLEPROOF_TEST_CVC5=cvc5 $(CARGO) test $(TESTED) --test library -- cvc5 --ignored

test-plain:
	$(CARGO) test --no-default-features --test files --test architecture

# The tool as `make test` has compiled it. An example is asked for because dependencies have other features for the tool alone.
tested-tool: setup
	$(CARGO) build $(TESTED) --bin bubbleproof --example named_schedule

# Screenshots and pages stay in target/browser.
browser: tested-tool
	tests/browser/install.sh
	$(PYTHON) tests/browser/check.py $(BUILT) target/browser

gallery:
	$(CARGO) run --example gallery

# A test draws them, since it computes what the tables beside them say.
pictures: setup
	BUBBLEPROOF_PICTURES=write $(CARGO) test $(TESTED) --test tool traces::pictures

# A test searches, since it checks what the page beside the plans says.
plans: setup
	BUBBLEPROOF_PLANS=write $(CARGO) test $(TESTED) --test tool jobs::shipped

# Shows the changes, then records them; review `git diff models/regress`.
regress: setup
	$(CARGO) run $(TESTED) -- regress models/regress --accept

# With HiGHS, which zig compiles for old glibc too.
wheel: setup $(WHEEL_TOOLS)
	@rm -rf $(WHEELS_AT)
	cd $(PACKAGE) && $(USING_WHEEL_TOOLS) maturin build --release --zig --locked --features highs \
	    --compatibility manylinux2014 --out $(abspath $(WHEELS_AT))

# The same for this machine alone, of what the tests have compiled: little is left to do.
wheel-here: setup $(WHEEL_TOOLS)
	@rm -rf $(WHEELS_AT)
	cd $(PACKAGE) && $(USING_WHEEL_TOOLS) maturin build --profile dev --locked --features highs,as-tested \
	    --compatibility linux --out $(abspath $(WHEELS_AT))

# The sources of the wheel, from which pip builds it where there is none for a platform.
sdist: $(WHEEL_TOOLS)
	@rm -rf $(dir $(WHEELS_AT))sdist
	cd $(PACKAGE) && $(USING_WHEEL_TOOLS) maturin sdist --out $(abspath $(dir $(WHEELS_AT)))/sdist

# Everything that a release has; with TAG=v1.2.3, only if version, changelog and tag agree.
release:
	.ci/release $(or $(CARGO_TARGET_DIR),target)/release-files $(TAG)

# In virtual environments of their own, without a compiler and without this checkout.
python-test: $(if $(wildcard $(WHEELS_AT)/*.whl),,wheel)
	@for python in $(PYTHONS); do $(PACKAGE)/test.sh $(abspath $(WHEELS_AT))/*.whl $$python || exit 1; done

# With every PyTorch that the package is tested with.
python-torch: $(if $(wildcard $(WHEELS_AT)/*.whl),,wheel) $(TORCHES:%=.deps/torch-%)
	@for torch in $(TORCHES); do \
	    echo "PyTorch $$torch" && \
	    $(PACKAGE)/test.sh $(abspath $(WHEELS_AT))/*.whl $(PYTHON) torch $(CURDIR)/.deps/torch-$$torch || exit 1; \
	done

# Every PyTorch that is needed here.
pytorch: $(TORCHES:%=.deps/torch-%)

python-ray: $(if $(wildcard $(WHEELS_AT)/*.whl),,wheel)
	$(PACKAGE)/test.sh $(abspath $(WHEELS_AT))/*.whl $(PYTHON) ray

# Executes the notebooks, and compares what they print with what is kept in them; with WRITE=--write, keeps it anew.
notebooks: $(if $(wildcard $(WHEELS_AT)/*.whl),,wheel)
	$(PACKAGE)/test.sh $(abspath $(WHEELS_AT))/*.whl $(PYTHON) notebooks $(WRITE)

# Types, as a user's type checkers see them too; style; and documentation in which every name is found.
python-lint: $(READERS_AT)
	cd $(PACKAGE) && export PATH=$(CURDIR)/$(READERS_AT)/bin:$$PATH && \
	    ruff format --check python tests notebooks.py && ruff check python tests notebooks.py && \
	    mypy python tests/test_typed.py && \
	    pyright --pythonpath $(CURDIR)/$(READERS_AT)/bin/python python/bubbleproof tests/test_typed.py

# The reference of the package, as pages for a browser.
python-docs: $(READERS_AT) $(if $(wildcard $(WHEELS_AT)/*.whl),,wheel)
	$(PACKAGE)/docs.sh $(READERS_AT)/bin/python $(abspath $(WHEELS_AT))/*.whl $(or $(CARGO_TARGET_DIR),target)/python-docs

$(READERS_AT):
	@echo 'installing $(READERS) into .deps'
	@rm -rf $@ $@.part && mkdir -p .deps
	@$(PYTHON) -m venv $@.part && mv $@.part $@ && \
	    PIP_ROOT_USER_ACTION=ignore $@/bin/python -m pip install --quiet --disable-pip-version-check $(READERS) || \
	    { rm -rf $@; exit 1; }

$(WHEEL_TOOLS):
	@echo 'installing maturin $(MATURIN) and zig $(ZIG) into .deps'
	@rm -rf $@.part && mkdir -p .deps
	@PIP_ROOT_USER_ACTION=ignore $(PYTHON) -m pip install --quiet --disable-pip-version-check --no-warn-script-location \
	    --target $@.part maturin==$(MATURIN) ziglang==$(ZIG)
	@mv $@.part $@

lint: setup
	$(CARGO) fmt --check
	$(CARGO) clippy --workspace --all-targets $(TESTED) -- -D warnings
	$(CARGO) clippy -- -D warnings
	$(CARGO) clippy --all-targets --no-default-features -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --lib $(TESTED)

proofs: setup
	$(CARGO) run --release $(TESTED) --example proofs -- proofs

# The theorems behind the checker, and the checker that is extracted from them.
rocq:
	proofs/rocq/build.sh $(or $(CARGO_TARGET_DIR),target)/rocq

# Compares what is extracted from the proofs with ours: single functions on random inputs; and the checker on every certificate of
# this checkout, altered copies, and problems that are solved for it.
agree: setup rocq
	$(CARGO) build $(TESTED) --bin bubbleproof --example rocq_functions
	@mkdir -p target/agree
	$(BUILT)/examples/rocq_functions cases $(FUNCTIONS) $(SEED) > target/agree/cases
	$(or $(CARGO_TARGET_DIR),target)/rocq/bubbleproof-functions target/agree/cases target/agree/claims
	$(BUILT)/examples/rocq_functions judge < target/agree/claims
	$(PYTHON) proofs/rocq/checker/agree.py --checker $(or $(CARGO_TARGET_DIR),target)/rocq/bubbleproof-checker \
	    --bubbleproof $(TOOL) --cases $(CASES) --seed $(SEED) --grid $(GRID) --keep target/agree

proofs-cvc5: $(CVC5)
	PYTHONPATH=$(CVC5) $(PYTHON) proofs/second_solver.py

$(CVC5) $(PARQUET):
	@echo 'installing $(notdir $@) into .deps'
	@rm -rf $@.part && mkdir -p .deps
	@PIP_ROOT_USER_ACTION=ignore $(PYTHON) -m pip install --quiet --disable-pip-version-check --no-warn-script-location \
	    --target $@.part $(subst -,==,$(notdir $@))
	@mv $@.part $@

differential: setup $(BRUTE)
	$(CARGO) build $(TESTED) --bin bubbleproof --example differential
	$(PYTHON) -m unittest discover -s tests/differential
	$(PYTHON) tests/differential/run.py $(BUILT)/examples/differential $(BRUTE) --tool $(TOOL) --cases $(CASES) \
	    --seed $(SEED) --jobs $(JOBS) $(OPTIONS)

# The exhaustive search of all orders: nothing of this crate.
$(BRUTE): $(wildcard tests/differential/*.rs)
	@mkdir -p $(dir $@)
	$(RUSTC) --edition 2024 -O tests/differential/brute.rs -o $@

interop: tested-tool $(PYTORCH)
	PYTHONPATH=$(PYTORCH) $(PYTHON) tests/interop/run.py $(TOOL)

torchtitan: tested-tool $(PYTORCH) $(INSTALLED)
	@for titan in $(INSTALLED); do \
	    PYTHONPATH=$$titan:$(PYTORCH) $(PYTHON) -W ignore tests/torchtitan/check.py $(TOOL) || exit 1; \
	done

# The schedules that PyTorch makes itself, as the tests read them.
dumps: $(PYTORCH)
	PYTHONPATH=$(PYTORCH) $(PYTHON) tests/interop/dump.py tests/data/pytorch

measure: $(if $(filter cpu,$(KIND)),$(PYTORCH))
	$(if $(filter cpu,$(KIND)),PYTHONPATH=$(PYTORCH)) $(PYTHON) $(MEASURE)/measure.py $(MEASURED) --kind $(KIND) $(OPTIONS)

measure-test: $(PYTORCH) $(PARQUET)
	PYTHONPATH=$(PYTORCH) $(PYTHON) -m unittest discover -s $(MEASURE)
	PYTHONPATH=$(PARQUET) $(PYTHON) -m unittest discover -s $(MEASURE)/published

# The schedules that are measured, made anew.
schedules:
	$(CARGO) build
	@for each in $(SET); do \
	    case $$each in v-*) shape=v;; *) shape=linear;; esac; \
	    $(TOOL) convert models/profiles/unit-$$shape.toml --schedule $${each%-d*} \
	        --devices $${each##*-d} --microbatches 16 -o $(SCHEDULES)/$$each-m16.json || exit 1; \
	done
	@for d in 2 4; do \
	    $(TOOL) optimize models/profiles/unit-v.toml --devices $$d --microbatches 16 --memory 75% \
	        -o $(SCHEDULES)/optimised-d$$d-m16.json > /dev/null || exit 1; \
	done

.deps/torch-%: | $(STAMP)
	@echo 'installing $(notdir $@) into .deps'
	@rm -rf $@.part && mkdir -p .deps
	@PIP_ROOT_USER_ACTION=ignore $(PYTHON) -m pip install --quiet --disable-pip-version-check --no-warn-script-location \
	    --no-deps --no-compile --target $@.part torch==$* $(TORCH_NEEDS)
	@$(PYTHON) tests/interop/stand_ins.py $@.part
	@mv $@.part $@

$(INSTALLED): | $(STAMP)
	@echo 'installing $(notdir $@) into .deps'
	@rm -rf $@.part && mkdir -p .deps
	@PIP_ROOT_USER_ACTION=ignore $(PYTHON) -m pip install --quiet --disable-pip-version-check --no-warn-script-location \
	    --no-deps --no-compile --target $@.part $(subst -,==,$(notdir $@)) $(TITAN_NEEDS)
	@mv $@.part $@

bench: setup
	$(CARGO) bench $(TESTED)

# The table goes to $(TABLE)/table.md. The certificates are checked by a build that has no solver in it.
bench-table: setup
	@rm -rf $(TABLE) && mkdir -p $(TABLE)
	$(CARGO) run --release $(TESTED) --example bench_table -- $(TABLE) $(SECONDS) $(ONLY) > $(TABLE)/table.md
	@cat $(TABLE)/table.md
	$(CARGO) build --release --no-default-features --features cli --target-dir target/solver-free
	@for schedule in $(TABLE)/*.json; do \
	    target/solver-free/release/bubbleproof check $$schedule > $$schedule.txt || { cat $$schedule.txt; exit 1; }; \
	done
	@echo "all $$(ls $(TABLE)/*.json | wc -l) certificates accepted by the solver-free build;" \
	    "the optimality of $$(grep -l '^  not checked' $(TABLE)/*.txt | wc -l) rests on a search, which is not checked"

certify: setup $(CHECKERS)
	$(CARGO) run $(TESTED) --example certify -- .deps/checkers/bin $(OPTIMA)

# With little optimisation: they run for moments, and are built for longer.
$(CHECKERS): $(STAMP)
	@rm -f .deps/checkers/installed-*
	$(QUICKLY_BUILT) $(CARGO) install --quiet --locked --root .deps/checkers --target-dir target/checkers \
	    pumpkin-checker --version '=$(PUMPKIN_CHECKER)'
	$(QUICKLY_BUILT) $(CARGO) install --quiet --locked --root .deps/checkers --target-dir target/checkers \
	    veripb --version '=$(VERIPB)'
	@rm -rf target/checkers
	@touch $@

mutants: $(MUTANTS_TOOL)
	.ci/mutants all

# What CI runs: the mutants in lines that differ from the commit before, or in one of four turns a sample of all.
mutants-change: $(MUTANTS_TOOL)
	.ci/mutants change

fuzz: $(FUZZ_TOOL)
	PATH="$(CURDIR)/.deps/fuzz/bin:$$PATH" fuzz/run.sh $(SECONDS)

# Without optimisation it takes ten minutes to read the core, with some of it less than two.
$(MUTANTS_TOOL): $(STAMP)
	$(QUICKLY_BUILT) $(CARGO) install --quiet --locked --root .deps/mutants \
	    --target-dir target/mutants-tool cargo-gamma --version '=$(MUTANTS)'
	@rm -rf target/mutants-tool
	@touch $@

$(FUZZ_TOOL): $(STAMP)
	$(QUICKLY_BUILT) $(CARGO) install --quiet --locked --root .deps/fuzz --target-dir target/fuzz-tool \
	    cargo-fuzz --version '=$(FUZZER)'
	@rm -rf target/fuzz-tool
	@touch $@
