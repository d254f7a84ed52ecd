# The verbs. Each does its own set-up on a fresh Debian 12 or Ubuntu 24.04; done again it is quick.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FRAZIL := build/release/frazil
.DEFAULT_GOAL := help
.PHONY: help demo test build lint format fuzz interop bench bench-test bench-instructions bench-micro sanitize clean install

help: ## list the verbs
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /make \1|/' | column -t -s '|'

demo: build ## build, then load all flights of New York 2013 into a partitioned table and scan it within a memory budget
	@tools/demo.sh $(FRAZIL)

test: ## build everything and run every test
	@echo "make test: installs what is missing, builds into build/release, runs all tests"
	@tools/setup.sh test
	@tools/test.sh release

build: ## build build/release/frazil
	@echo "make build: installs what is missing, builds build/release/frazil"
	@tools/setup.sh build
	@tools/build.sh release frazil

sanitize: ## run the tests under address, undefined and thread sanitizers (clang 19)
	@tools/setup.sh ci
	@tools/test.sh asan
	@tools/test.sh tsan

lint: ## clang-format and clang-tidy on changed files, the layer check
	@tools/setup.sh ci
	@tools/lint.sh

format: ## reformat all sources
	@tools/setup.sh ci
	@git ls-files '*.h' '*.cc' | xargs clang-format-19 -i

fuzz: ## every fuzzer for FUZZ_SECONDS (default 300) each, over its corpus
	@tools/setup.sh ci
	@tools/fuzz.sh $${FUZZ_SECONDS:-300}

interop: ## compare with other engines on generated tables and files, fresh seeds (FRAZIL_SEED=N: those)
	@tools/setup.sh test
	@FRAZIL_TEST_SECONDS=$${FRAZIL_TEST_SECONDS:-600} tools/interop.sh

bench: ## time frazil beside its peers: JOB= SIZE=quick|full PEERS=python|all ROUNDS= SETS= CASES= THREADS= (docs/benchmarks.md)
	@tools/setup.sh test
	@tools/build.sh release frazil frazil_content_hash
	@python3 bench/run.py $(foreach option,JOB SIZE PEERS ROUNDS SETS CASES THREADS,\
	  $(if $($(option)),--$(shell echo $(option) | tr A-Z a-z) '$($(option))'))

bench-test: ## test the benchmarks' Python, and their report in a headless Chromium
	@tools/setup.sh bench
	@python3 -m unittest discover -s bench/tests -p '*_test.py'
	@$$(python3 bench/peers/build.py --environment report || echo python3) bench/report/check.py

bench-instructions: build ## count the instructions of fixed scans and compare with the committed counts: ARGS='--update'
	@tools/setup.sh instructions
	@bench/instructions/count.py $(ARGS)

bench-micro: ## run the microbenchmarks that FILTER (a regular expression) fits, of the layers LAYERS (all)
	@tools/setup.sh test
	@tools/bench_micro.sh "$(FILTER)" $(LAYERS)

install: build ## install program, library and headers into PREFIX (default /usr/local), below DESTDIR
	@tools/build.sh release frazil_shared frazil_static
	@cmake --install build/release --prefix $(PREFIX)

clean: ## remove build/
	rm -rf build
