# Each target says what it needs and gets it; `make demo` works on a fresh clone.
SCENARIO ?= scenarios/stream-publish.toml
PROGRAM := target/release/rabbitscope

.PHONY: demo test lint setup bench-overhead bench-load bench-pace bench-queues bench-page bench-profile bench-inside fuzz

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

# What the load generator costs, in turn with PerfTest (needs Java and Maven): docs/performance.md.
bench-load: setup
	cargo build --release --package rabbitscope
	cargo build --release --package rabbitscope-load --example sink
	cargo build --release --package rabbitscope-amqp --example codec
	scripts/bench-load.sh

# How long a list of 3,000 queues takes under load, from the management plugin and from here: docs/performance.md.
bench-queues: setup
	cargo build --release --package rabbitscope
	scripts/bench-queues.sh

# How long the page of a large profile takes to open in Chromium, and how large it is.
bench-page: setup
	cargo build --release --package rabbitscope
	scripts/permit.sh $(PROGRAM)
	scripts/bench-page.sh

# Whether a constant rate is held without bursts, on a quiet machine.
bench-pace: setup
	cargo build --release --package rabbitscope
	scripts/bench-pace.sh

# How long folded stacks take from a recording of ten million samples, against perf script with
# stackcollapse-perf.pl and against inferno (needs perf, Perl, 6 GB of disk): docs/performance.md.
bench-profile: setup
	cargo build --release --package rabbitscope
	scripts/bench-profile.sh

# What a look inside costs a saturated broker: docs/inside.md.
bench-inside: setup
	cargo build --release --package rabbitscope
	scripts/bench-inside.sh

# Fuzz targets for everything that is parsed, each for so long: docs/fuzzing.md.
FUZZ_SECONDS ?= 600
fuzz: setup
	scripts/fuzz.sh $(FUZZ_SECONDS)

# What apt has and this machine lacks.
setup:
	scripts/setup.sh
