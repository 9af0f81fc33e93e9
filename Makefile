# Targets install their needs; `make demo` works on a fresh clone.
SCENARIO ?= scenarios/stream-publish.toml
PROGRAM := target/release/rabbitscope
DEMO := target/demo/rabbitscope

BENCHES := overhead tick watch asking load protocols fleet pace find-rate queues inside page follow questions profile packets check workload

# Group that may record profiles with the installed program, and place of `make install`.
GROUP ?= rabbitscope
PREFIX ?= /usr/local

.PHONY: demo test readme reference test-faults test-floods soak-watch cluster-faults packets-faults packets-clients test-releases test-virtual dist lint manifests setup fuzz install experiments $(BENCHES:%=bench-%)

# Load on a throwaway broker, a CPU profile of it, a report. A separate build profile and list of packages take a third
# of the time of a release and of the tests' setup.
demo:
	scripts/setup.sh demo
	cargo build --locked --profile demo --package rabbitscope
	scripts/permit.sh $(DEMO)
	$(DEMO) run $(SCENARIO)

# All tests, live ones included.
test: setup
	scripts/test.sh

# Removals beside a publisher, brokers and runs out of sight (namespaces, zombies), users who take ports. Also every
# command killed, stopped, cut off, on a full disk and with hostile peers, at random instants. 40 minutes at most, as
# root. RABBITSCOPE_FAULT_SEED=N for other instants.
test-faults: setup
	cargo test --locked --package rabbitscope-load --test it -- --ignored --nocapture removal::
	cargo test --locked --package rabbitscope --test it -- sight::
	cargo test --locked --package rabbitscope --test it -- --ignored --nocapture faults:: squatters::

# Two hundred floods of all kinds of queues, with and without planted loss: the program's accepted count must equal the
# queue's. All take an hour; FLOODS=0-19 for fewer.
test-floods: setup
	cargo test --locked --package rabbitscope --test it -- --ignored --nocapture floods::

# A node of three killed every 20 seconds for ten minutes, every message checked. DURATION=3m for less.
cluster-faults: setup
	cargo build --locked --release --package rabbitscope
	scripts/cluster-faults.sh

# Watches in windows of 200 ms, with a node that is killed and restarted every minute, as root: nothing may grow, and
# nothing may be left after a kill. RABBITSCOPE_SOAK=20m for less than 4 hours.
soak-watch: setup
	cargo test --locked --package rabbitscope --test it -- --ignored --nocapture watch::soak::

# Faults on connections, each ROUNDS times, as root: `packets` must find the right one first.
packets-faults:
	cargo build --locked --package rabbitscope
	RABBITSCOPE=target/debug/rabbitscope python3 scripts/packets faults $(or $(ROUNDS),2)

# Fourteen other, correct clients for EACH seconds, near and far: `packets` must warn of none. 15 minutes, as root.
packets-clients:
	cargo build --locked --package rabbitscope
	scripts/packets/clients/install.sh target/packets-clients
	CLIENTS=$(CURDIR)/target/packets-clients RABBITSCOPE=target/debug/rabbitscope timeout 3600 \
		python3 scripts/packets clients $(or $(EACH),10)

# Live tests of the recorder and of looks inside a node, against the RabbitMQ and Erlang of Debian 12, 13 and forky, which
# it installs below target/releases, as root.
test-releases: setup
	scripts/test-releases.sh

# Live tests of the recorder in a virtual machine with Debian's own kernel, Erlang and RabbitMQ, as root. Another
# architecture than this machine's is emulated, which takes an hour and more.
ARCH ?= $(shell uname -m)
test-virtual:
	scripts/test-virtual.sh $(ARCH)

# Installs the built program for a group, as root.
install:
	scripts/install.sh $(GROUP) $(PREFIX)

# Package, archive and image for other machines, in target/dist. ARCH=aarch64 for another architecture.
dist: setup
	ARCH=$(ARCH) scripts/dist.sh

# Form, lints, documentation, licences, known holes in dependencies.
lint:
	scripts/lint.sh

# Checks deploy/ against published schemas.
manifests:
	scripts/manifests.sh

# overhead  cost of a profile at 999 Hz for the broker, in turn with perf and with a bare clock: throughput and
#           CPU time a message, with and without, in alternating pairs
# tick      cost of a sample for the sampled code, in turn with perf and with a bare clock
# watch     cost of watching all day, idle and busy, in turn with perf (as root)
# asking    cost of `watch` asking a node with 3,000 queues, in turn with one that does not ask (as root)
# load      cost of the load generator, in turn with PerfTest (needs Java and Maven)
# fleet     agreement of several processes on this machine with one, and the cost of their bus and controller
# pace      steadiness of a constant rate
# find-rate agreement of nine identical searches for the highest rate that take turns: some 35 minutes
# queues    time for a list of 3,000 queues under load, from the management plugin and from here
# inside    cost of a look inside for a saturated broker
# page      size of the page of a large profile, and its time to open in Chromium
# follow    memory of a live page that follows a node for 40 minutes (as root)
# questions clicks and seconds in which pages answer five questions of a reader
# profile   time from ten million samples to folded stacks, against perf script with
#           stackcollapse-perf.pl and against inferno (needs perf, Perl, 30 GB of disk)
# packets   speed of the analysis of a capture, in turn with tshark, and cost of a live capture (as root)
# workload  likeness of nineteen loads and their models, and wrong models that must be told apart: 30 minutes (as root)
# check     answers of `check` about 44 planted limits, as a confusion matrix: 20 minutes a round (as root)
#
# Use a quiet machine. Results go into docs/measurements or the terminal; each script lists its settings.
$(BENCHES:%=bench-%): bench-%: setup
	cargo build --locked --release --package rabbitscope
	scripts/permit.sh $(PROGRAM)
	scripts/bench-$*.sh

# Experiments with a known answer: all of them, or EXPERIMENT=15-prefetch. Resumes after an interruption.
EXPERIMENTS := $(patsubst experiments/%.toml,%,$(wildcard experiments/*.toml))
EXPERIMENT ?= $(EXPERIMENTS)
experiments: setup
	cargo build --locked --release --package rabbitscope
	scripts/experiments.sh $(EXPERIMENT)

# Writes the demo's output into README.md, and docs/report.png from its report.
readme: setup
	cargo build --locked --profile demo --package rabbitscope
	scripts/permit.sh $(DEMO)
	scripts/readme.sh $(DEMO) $(SCENARIO)

# Writes docs/reference/command-line.md from the help of every command, and findings.md from the table of rules.
reference:
	RABBITSCOPE_WRITE_REFERENCE=1 cargo test --locked --package rabbitscope --test it -- reference::the_reference
	RABBITSCOPE_WRITE_REFERENCE=1 cargo test --locked --package rabbitscope-diagnosis -- reference

# Fuzz targets for every parser, each for FUZZ_SECONDS: docs/internals/fuzzing.md.
FUZZ_SECONDS ?= 600
fuzz: setup
	scripts/fuzz.sh $(FUZZ_SECONDS)

# Installs missing packages from apt.
setup:
	scripts/setup.sh
