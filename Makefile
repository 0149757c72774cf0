# SPDX-License-Identifier: Apache-2.0
# The few commands a developer needs, in front of CMake and Ninja; `make help` lists them.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

.DEFAULT_GOAL := build
.PHONY: build run test check lint format bench bench-live soak fuzz clean install uninstall dist deb help

build: ## build the program, optimised: build/release/weft
	@scripts/build release

run: ## install what is missing, build, and run the main demonstration
	@scripts/setup
	@scripts/build release
	@scripts/need scripts/run-main
	@scripts/run-main

test: ## run all tests: debug with sanitizers and fuzzers' kept inputs, release, arm64, threads
	@scripts/setup --test
	@scripts/test

check: ## for the time between two edits: what a debug build says, and its quick tests
	@scripts/setup --test
	@scripts/build debug
	@ctest --preset debug --label-regex quick --parallel $$(($$(nproc) * 2))

lint: ## check layout, layers, sizes, headers, globals, and what clang-tidy says of the change
	@scripts/setup --test
	@scripts/lint

format: ## lay every C file out as clang-format wants it
	@find src include tests bench fuzz -name '*.[ch]' 2>/dev/null | xargs -r clang-format -i

bench: ## build and run the benchmarks
	@scripts/build release all benches
	@scripts/need scripts/bench
	@scripts/bench

bench-live: ## measure live fabrics with perftest, beside TCP and UCX on the same machine
	@scripts/setup --test
	@scripts/bench-live

soak: ## move 10 GB over faulty live links, kill 1,000 programs and daemons, and check everything
	@scripts/setup --test
	@scripts/soak

fuzz: ## run each fuzzer for FUZZ_SECONDS (60)
	@scripts/setup --test
	@scripts/fuzz $(FUZZ_SECONDS)

clean: ## remove everything that was built
	rm -rf build

install: ## build for and install below PREFIX (/usr/local); DESTDIR is honoured
	@scripts/build release -DCMAKE_INSTALL_PREFIX="$(PREFIX)"
	@cmake --install build/release
	@cp build/release/install_manifest.txt build/release/installed.txt

uninstall: ## remove what the last `make install` installed; DESTDIR is honoured
	@cmake -D MANIFEST=build/release/installed.txt -P cmake/uninstall.cmake

dist: ## make the release tarball, with the built page: build/dist/weft-VERSION.tar.gz
	@scripts/dist

deb: ## make Debian packages of the release tarball: build/deb
	@scripts/deb

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18
