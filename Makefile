.DEFAULT_GOAL := help
.PHONY: run test test-pooler test-pooler-poll check wheel wheel-test deb deb-test fmt reference openapi schema docs clients bench chaos attack fuzz eval deploy-check deploy-rules incident help

# Where ONNX Runtime's library lies; an absolute path, since tests start the program from other folders.
export AKHAR_ORT_DYLIB ?= $(CURDIR)/.cache/onnxruntime/libonnxruntime.so

# Tests wait for processes, clocks and locks for half of their time: twice as many run at a time as there are cores.
export RUST_TEST_THREADS ?= $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))

# What `make` builds is built from nothing or seldom: what the compiler would keep for the next build takes minutes and gigabytes.
export CARGO_INCREMENTAL ?= 0

run: ## Set up, build and serve on http://127.0.0.1:8080; prints a demo key and a request to paste
	scripts/setup.sh run
	cargo build --release --locked --package akhar
	exec target/release/akhar serve

test: ## Set up and run every test
	scripts/setup.sh test
	cargo build --locked --package akhar
	cargo test --locked --workspace

test-pooler: ## Run the durability tests behind PgBouncer in transaction mode, with notifications from Postgres itself
	scripts/setup.sh test
	cargo build --locked --package akhar
	TESTS_POOLER=listen cargo test --locked --workspace --test durability

test-pooler-poll: ## The same without notifications
	scripts/setup.sh test
	cargo build --locked --package akhar
	TESTS_POOLER=poll cargo test --locked --workspace --test durability -- $(addprefix --skip ,$(PROMPT))

# Tests of what happens within less than the second between two looks for jobs.
PROMPT = an_announcement_that_is_lost every_request_is_answered_once_when_workers_are_killed \
	a_short_recording_does_not_wait_for_the_long_ones

check: ## Formatting, lints, docs, licences and crate arrows, unused dependencies; types and tests of the Python; OpenAPI
	scripts/setup.sh check
	cargo fmt --all --check
	cargo fmt --manifest-path tests/fuzz/Cargo.toml --check
	cargo fmt --manifest-path bench/peers/graphile_worker/Cargo.toml --check
	cargo metadata --locked --manifest-path tests/fuzz/Cargo.toml --format-version 1 >/dev/null
	cargo metadata --locked --manifest-path bench/peers/graphile_worker/Cargo.toml --format-version 1 >/dev/null
	cargo clippy --locked --workspace --all-targets --all-features -- --deny warnings
	RUSTDOCFLAGS="--deny warnings" cargo doc --locked --workspace --no-deps --quiet
	cargo deny --locked check bans licenses sources
	cargo machete
	.cache/check/bin/ruff format --check --quiet
	.cache/check/bin/ruff check --quiet
	.cache/check/bin/python client/python/generate.py --check
	.cache/check/bin/mypy
	cd client/python && ../../.cache/check/bin/mypy
	cargo build --locked --package akhar
	AKHAR=$(CURDIR)/target/debug/akhar .cache/check/bin/pytest --quiet
	cd .cache/node && bin/node --input-type=module - $(CURDIR)/docs/openapi.json <$(CURDIR)/tests/node/lint_openapi.mjs
	scripts/check_links.sh sources

wheel: ## Build the wheel for pip, which holds the program and the models, into target/wheels
	scripts/setup.sh wheel
	scripts/wheel.sh

wheel-test: ## Install a wheel of the build that tests use, as a user without rights, and get an answer from each operation
	scripts/setup.sh wheel-test
	scripts/wheel.sh dev target/wheel-test
	scripts/wheel_test.sh target/wheel-test/akhar-*.whl

deb: ## Build the Debian package, which holds the program, the models and units for systemd, into target/debian
	scripts/setup.sh deb
	cargo build --profile dist --locked --package akhar
	cargo deb --package akhar --profile dist --no-build

deb-test: ## Install, upgrade and purge a package of the build that tests use, in a new Debian; needs root
	scripts/setup.sh deb-test
	cargo build --locked --package akhar
	cargo deb --package akhar --profile dev --no-build --no-strip --fast --output target/debian-test/akhar.deb
	scripts/deb_test.sh target/debian-test/akhar.deb

fmt: ## Format the Rust and the Python, and apply ruff's safe corrections
	scripts/setup.sh python
	cargo fmt --all
	cargo fmt --manifest-path tests/fuzz/Cargo.toml
	cargo fmt --manifest-path bench/peers/graphile_worker/Cargo.toml
	.cache/check/bin/ruff format --quiet
	.cache/check/bin/ruff check --fix --quiet

reference: openapi ## Write what is made from code: docs/src/reference/, docs/openapi.json and .env.example
	for page in configuration problems command-line metrics; do \
		cargo run --quiet --locked --package akhar -- reference $$page >docs/src/reference/$$page.md || exit; \
	done
	cargo run --quiet --locked --package akhar -- reference environment >.env.example

openapi: ## Write docs/openapi.json
	cargo run --quiet --locked --package akhar -- openapi >docs/openapi.json

schema: ## Write migrations/schema.sql, the listing of the schema for readers
	WRITE_SCHEMA=1 cargo test --quiet --locked --package akhar-tests --test documents listing_of_the_schema

docs: ## Build the book with the Rust documentation, and its pages as Markdown, into target/book, and check every link
	scripts/setup.sh docs
	RUSTDOCFLAGS="--deny warnings" cargo doc --locked --workspace --no-deps --quiet
	PATH="$$PATH:$${CARGO_HOME:-$$HOME/.cargo}/bin" mdbook build docs
	cp -r target/doc target/book/rust
	echo '<meta http-equiv="refresh" content="0; url=../reference/rust.html">' >target/book/rust/index.html
	scripts/llms.sh
	scripts/check_links.sh book

clients: ## Try published clients and generators of clients, which it downloads, with a build or with the service of AKHAR_URL and AKHAR_KEY
	scripts/setup.sh run
	cargo build --locked --package akhar
	scripts/clients.sh

bench: ## Measure, beside other programs: bench/results/summary.md (one part: akhar-bench --help)
	scripts/setup.sh run
	bench/peers/setup.sh
	cargo build --release --locked --package akhar --package akhar-bench
	cargo bench --locked --package akhar-bench
	target/release/akhar-bench all

chaos: ## Kill and disturb every process under load, and check all answers: make chaos [SEEDS="11 12 13"] [MINUTES=10] [STORE=s3]
	scripts/setup.sh chaos
	cargo build --release --locked --package akhar --package akhar-chaos
	PROTOCOL_DEPTH=deep cargo test --release --locked --package akhar-tests --test durability -- --nocapture protocol
	failed=; for seed in $(or $(SEEDS),$(SEED),11); do \
		scripts/chaos.sh --seed $$seed --minutes $(or $(MINUTES),10) --store $(or $(STORE),postgres) || failed="$$failed $$seed"; \
	done; test -z "$$failed" || { echo "failed with the seeds$$failed" >&2; exit 1; }

attack: ## Attack a running service, also in ways drawn from a seed, while an innocent caller must be answered: make attack [SEED=11] [ROUNDS=10]
	scripts/setup.sh attack
	cargo build --release --locked --package akhar --package akhar-chaos
	target/release/akhar-chaos attack --seed $(or $(SEED),11) --rounds $(or $(ROUNDS),10)

fuzz: ## Run every fuzz target for some seconds: make fuzz [SECONDS=60] [TARGET=name] [RUNS=n] (see tests/fuzz/README.md)
	scripts/setup.sh fuzz
	RUNS=$(RUNS) scripts/fuzz.sh $(or $(SECONDS),60) $(TARGET)

eval: ## Measure recognition and speech on public data: make eval DATA=/absolute/folder (see training/README.md)
	@test -n "$(DATA)" || { echo "eval: say where the data lies: make eval DATA=/absolute/folder" >&2; exit 2; }
	scripts/setup.sh run
	cargo build --release --locked --package akhar
	test -x .cache/venv-train/bin/python || python3 -m venv .cache/venv-train
	.cache/venv-train/bin/pip install --quiet --requirement training/requirements.txt
	cd training && ../.cache/venv-train/bin/python -m recognition.evaluate --data "$(DATA)"
	rm -f target/eval/speech-*.json
	cd training && for language in pa en; do \
		../.cache/venv-train/bin/python -m speech.measure.served --language $$language --data "$(DATA)" \
			--program ../target/release/akhar $(if $(HELD),--held "$(HELD)/$$language") \
			--json ../target/eval/speech-$$language.json || exit; \
	done

deploy-check: ## Check deploy/: every file by itself, the alerts by incidents, the proxies, sockets behind them, the units and the dashboard with a running service, backups by restoring them
	scripts/setup.sh deploy
	cargo build --locked --package akhar
	cd deploy/check && ../../.cache/deploy/bin/python files.py
	cd deploy/check && ../../.cache/deploy/bin/python alerts.py
	cd deploy/check && PYTHONPATH=../../training ../../.cache/deploy/bin/python proxies.py
	cd deploy/check && PYTHONPATH=../../training ../../.cache/deploy/bin/python sockets.py
	cd deploy/check && PYTHONPATH=../../training ../../.cache/deploy/bin/python units.py
	cd deploy/check && PYTHONPATH=../../training ../../.cache/deploy/bin/python dashboard.py
	cd deploy/check && PYTHONPATH=../../training ../../.cache/deploy/bin/python backup.py

deploy-rules: ## Write the copy of the alert rules for Kubernetes
	scripts/setup.sh deploy
	cd deploy/check && ../../.cache/deploy/bin/python files.py --write

incident: ## Cause an incident at random in a service of its own, and wait until its cause is named; NAME=… for a known one
	scripts/setup.sh deploy
	cargo build --release --locked --package akhar
	cd deploy/check && PYTHONPATH=../../training ../../.cache/deploy/bin/python incidents.py --wait \
		$(if $(NAME),--name $(NAME)) $(if $(SEED),--seed $(SEED))

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16
