"""Measures what a check costs a large node with little to do: 3,000 queues, 2,000 connections, 1,000 messages a second.

    RABBITSCOPE=PROGRAM python3 scripts/check/night.py

In turn, the node is left alone, sampled as a check samples it, and checked. From the environment:

    ROUNDS   rounds (5)
    DOCUMENT page of documentation that gets the table; empty for none
"""

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time

import documentation
import machine
from brokers import Load, Site, Spec
from machine import PROGRAM

ROUNDS = int(os.environ.get("ROUNDS", "5"))
# A node with tables of statistics, as one that is monitored has.
MONITORED = Spec(plugins=("rabbitmq_management_agent",))
# Length of a check, the usual one, in seconds.
SECONDS = 15
# Frequency of a check's samples, in Hz (crates/check `options.rs`).
HERTZ = 199
# Time between two measurements, in which the node forgets the one before.
REST = 5


def alone(site, place):
    time.sleep(SECONDS)
    return "", 0, 0


def sampled(site, place):
    words = ["profile", "--node", site.node_name(0), "--event", "cpu,off-cpu", "--freq", HERTZ, "--duration", f"{SECONDS}s",
             "--no-names", "--output", f"{place}/sampled.folded"]
    return machine.run_with_use(*site.words(PROGRAM, *words), env=site.environment)


def checked(site, place):
    words = ["check", "--node", site.node_name(0), "--duration", f"{SECONDS}s"]
    return machine.run_with_use(*site.words(PROGRAM, *words), env=site.environment, timeout=SECONDS + 30)


WAYS = {"left alone": alone, "sampled": sampled, "checked": checked}


def measured(site, way, place):
    """Returns the node's CPU seconds during a way, its length in seconds, its lines, its own CPU seconds and memory."""
    began, before = time.monotonic(), machine.cpu_of(site.pid())
    output, own, memory = way(site, place)
    took = time.monotonic() - began
    cpu = machine.cpu_of(site.pid()) - before
    return {"cpu": cpu, "seconds": took, "lines": len(output.splitlines()), "own": own, "memory": memory}


def rounds(site, place):
    found = {name: [] for name in WAYS}
    for number in range(ROUNDS):
        for name, way in WAYS.items():
            time.sleep(REST)
            row = measured(site, way, place)
            print(f"round {number + 1}: {name:10} {row['cpu']:6.2f} CPU s in {row['seconds']:5.1f} s, {row['lines']} lines, own {row['own']:.2f} CPU s, {row['memory']:.0f} MB", flush=True)
            found[name].append(row)
    return found


def table(found):
    """A row for each way: medians, and the node's CPU time beyond that of a node left alone for as long."""
    rate = statistics.median(row["cpu"] / row["seconds"] for row in found["left alone"])
    lines = ["| node | seconds | lines | CPU time of the node | beyond the load | cores | own CPU time | own memory |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for name, rows in found.items():
        median = lambda key: statistics.median(row[key] for row in rows)
        beyond = statistics.median(row["cpu"] - rate * row["seconds"] for row in rows)
        share = beyond / median("seconds")
        lines.append(f"| {name} | {median('seconds'):.1f} | {median('lines') or ''} | {median('cpu'):.2f} s | {beyond:+.2f} s | {share:+.3f} | {median('own'):.2f} s | {median('memory'):.0f} MB |")
    return "\n".join(lines)


def main():
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-check-"))
        site = Site(stack, MONITORED)
        load = Load(site, "night", {"run.duration": "30m"}, 0, place)
        stack.enter_context(load.running())
        load.wait(15, limit=180)
        found = rounds(site, place)
        rate, _ = load.rate("published", 3)
    print(f"\n{rate:.0f} messages a second\n\n{table(found)}")
    if os.environ.get("DOCUMENT"):
        documentation.write(os.environ["DOCUMENT"], ", night", table(found))


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        sys.exit(f"night: {error}")
