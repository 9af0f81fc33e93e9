# Each target says what it needs and gets it; `make demo` works on a fresh clone.
SCENARIO ?= scenarios/stream-publish.toml
PROGRAM := target/release/rabbitscope
DEMO := target/demo/rabbitscope

BENCHES := overhead tick watch asking load fleet pace find-rate queues inside page profile packets

# Whose members may record profiles with what `make install` installs, and where to.
GROUP ?= rabbitscope
PREFIX ?= /usr/local

.PHONY: demo test reference test-faults test-floods soak-watch cluster-faults packets-faults packets-clients test-releases test-virtual dist lint manifests setup fuzz install experiments $(BENCHES:%=bench-%)

# Load on a throwaway broker, a CPU profile of it, a report. A build profile and a list of packages of its own: a third
# of the time of a release and of the tests' setup.
demo:
	scripts/setup.sh demo
	cargo build --locked --profile demo --package rabbitscope
	scripts/permit.sh $(DEMO)
	$(DEMO) run $(SCENARIO)

# All tests, live ones included.
test: setup
	scripts/test.sh

# Removals beside a publisher, brokers and runs out of sight (namespaces, zombies), users who take ports, and every
# command killed, stopped, cut off, on a full disk and with hostile peers, at random instants: 40
# minutes at most, as root. RABBITSCOPE_FAULT_SEED=N for other instants.
test-faults: setup
	cargo test --locked --package rabbitscope-load --test it -- --ignored --nocapture removal::
	cargo test --locked --package rabbitscope --test it -- sight::
	cargo test --locked --package rabbitscope --test it -- --ignored --nocapture faults:: squatters::

# Two hundred floods of all kinds of queues, with and without planted loss: what the program counts as accepted is what
# the queue has. FLOODS=0-19 for fewer than an hour's.
test-floods: setup
	cargo test --locked --package rabbitscope --test it -- --ignored --nocapture floods::

# A node of three killed every 20 seconds for ten minutes, every message checked. DURATION=3m for less.
cluster-faults: setup
	cargo build --locked --release --package rabbitscope
	scripts/cluster-faults.sh

# Watching in windows of 200 ms, with a node that is killed and started again every minute, as root: nothing grows, and
# nothing is left after a kill. RABBITSCOPE_SOAK=20m for less than 4 hours.
soak-watch: setup
	cargo test --locked --package rabbitscope --test it -- --ignored --nocapture watch::soak::

# Faults on connections, each ROUNDS times, and whether `packets` finds the right one first, as root.
packets-faults:
	cargo build --locked --package rabbitscope
	RABBITSCOPE=target/debug/rabbitscope python3 scripts/packets faults $(or $(ROUNDS),2)

# Fourteen other clients that do nothing wrong, for EACH seconds, near and far: `packets` must warn of none; 15 minutes, as root.
packets-clients:
	cargo build --locked --package rabbitscope
	scripts/packets/clients/install.sh target/packets-clients
	CLIENTS=$(CURDIR)/target/packets-clients RABBITSCOPE=target/debug/rabbitscope timeout 3600 \
		python3 scripts/packets clients $(or $(EACH),10)

# The live tests of the recorder, and of what looks inside a node, against the RabbitMQ and Erlang of Debian 12, 13 and
# forky, which it installs below target/releases, as root.
test-releases: setup
	scripts/test-releases.sh

# The live tests of the recorder in a virtual machine with Debian's own kernel, Erlang and RabbitMQ, as root. An
# architecture that is not this machine's is emulated, which takes an hour and more.
ARCH ?= $(shell uname -m)
test-virtual:
	scripts/test-virtual.sh $(ARCH)

# The built program for a group, as root.
install:
	scripts/install.sh $(GROUP) $(PREFIX)

# What can be installed elsewhere: a package, an archive, an image, in target/dist. ARCH=aarch64 for another architecture.
dist: setup
	ARCH=$(ARCH) scripts/dist.sh

# Form, lints, documentation, licences, known holes in dependencies.
lint:
	scripts/lint.sh

# What deploy/ has, against published schemas.
manifests:
	scripts/manifests.sh

# overhead  what a profile at 999 Hz costs the broker, in turn with perf and with a bare clock: throughput and
#           CPU time a message, with and without, in alternating pairs
# tick      what a sample costs the code that is sampled, in turn with perf and with a bare clock
# watch     what watching all day costs, idle and busy, in turn with perf (as root)
# asking    what it costs a node with 3,000 queues that `watch` asks it, in turn with one that does not (as root)
# load      what the load generator costs, in turn with PerfTest (needs Java and Maven)
# fleet     whether several processes on this machine measure what one does, and what their bus and controller cost
# pace      whether a constant rate is held without bursts
# find-rate whether nine identical searches for the highest rate that take turns agree: some 35 minutes
# queues    how long a list of 3,000 queues takes under load, from the management plugin and from here
# inside    what a look inside costs a saturated broker
# page      how long the page of a large profile takes to open in Chromium, and how large it is
# profile   how long folded stacks take from ten million samples, against perf script with
#           stackcollapse-perf.pl and against inferno (needs perf, Perl, 30 GB of disk)
# packets   how fast a capture is analyzed, in turn with tshark, and what a live one costs (as root)
#
# On a quiet machine. Results go into docs/measurements or the terminal; each script says what can be set.
$(BENCHES:%=bench-%): bench-%: setup
	cargo build --locked --release --package rabbitscope
	scripts/permit.sh $(PROGRAM)
	scripts/bench-$*.sh

# Experiments with an answer that is known: all of them, or EXPERIMENT=15-prefetch. Goes on where it stopped.
EXPERIMENTS := $(patsubst experiments/%.toml,%,$(wildcard experiments/*.toml))
EXPERIMENT ?= $(EXPERIMENTS)
experiments: setup
	cargo build --locked --release --package rabbitscope
	scripts/experiments.sh $(EXPERIMENT)

# Writes docs/reference/command-line.md from the help of every command.
reference:
	RABBITSCOPE_WRITE_REFERENCE=1 cargo test --locked --package rabbitscope --test it -- reference::the_reference

# Fuzz targets for everything that is parsed, each for so long: docs/internals/fuzzing.md.
FUZZ_SECONDS ?= 600
fuzz: setup
	scripts/fuzz.sh $(FUZZ_SECONDS)

# What apt has and this machine lacks.
setup:
	scripts/setup.sh
