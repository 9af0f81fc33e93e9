# Each target says what it needs and gets it; `make demo` works on a fresh clone.
SCENARIO ?= scenarios/stream-publish.toml
PROGRAM := target/release/rabbitscope

.PHONY: demo test lint setup bench-overhead

# Load on a throwaway broker, a CPU profile of it, a report.
demo: setup
	cargo build --release --package rabbitscope
	scripts/permit.sh $(PROGRAM)
	$(PROGRAM) run $(SCENARIO)

# All tests, live ones included.
test: setup
	scripts/test.sh

# Form, lints, documentation, licences.
lint:
	scripts/lint.sh

# What a profile at 999 Hz costs the broker: throughput with and without, in alternating pairs.
bench-overhead: setup
	cargo build --release --package rabbitscope
	scripts/permit.sh $(PROGRAM)
	scripts/bench-overhead.sh

# What apt has and this machine lacks.
setup:
	scripts/setup.sh
