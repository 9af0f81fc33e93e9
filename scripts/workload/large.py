"""Cost of observing a node with many connections, in turn with a capture of its packets and with nothing."""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import time

ROUNDS = int(os.environ.get("ROUNDS", "6"))
# Seconds of one observation: the usual ones of the program.
OBSERVED = int(os.environ.get("OBSERVED", "60"))
SCENARIO = """
name = "large-node"
run.duration = "2h"
run.queue-depths = false
[[queues]]
name = "large-{}"
to = 1000
[[publishers]]
name = "senders"
queue = "large-{}"
count = 500
connections = 500
rate = 1
size = "300B"
[[publishers]]
name = "idle"
queue = "large-1"
count = 500
connections = 500
rate = 0.001
[[consumers]]
queue = "large-{}"
count = 1000
connections = 1000
prefetch = 10
"""


def cpu(pid):
    """Returns the CPU time of a process so far in seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def started(program, broker, place):
    """Starts the load, and waits until it has all connections."""
    scenario = place / "large.toml"
    scenario.write_text(SCENARIO)
    words = [program, "run", scenario, "--uri", broker["uri"], "--out", place / "load", "--plain"]
    with open(place / "load.log", "w") as log:
        load = subprocess.Popen(words, stdout=log, stderr=log)
    series = place / "load" / "series.jsonl"
    for _ in range(300):
        rows = series.read_text().splitlines() if series.exists() else []
        if len(rows) > 10 and json.loads(rows[-1])["connections"] >= 2000:
            return load
        if load.poll() is not None:
            break
        time.sleep(1)
    load.kill()
    raise SystemExit(f"large-node: the load did not start: {(place / 'load.log').read_text().strip()}")


def cost(pid, words):
    """Returns the CPU time of the node while a command runs, the time itself, and the command's memory in MB."""
    before, began = cpu(pid), time.monotonic()
    if words is None:
        time.sleep(OBSERVED + 2)
        return cpu(pid) - before, time.monotonic() - began, 0
    command = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = command.stderr.read().decode()
    _, status, usage = os.wait4(command.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"large-node: {' '.join(map(str, words))}: {error.strip()}")
    return cpu(pid) - before, time.monotonic() - began, usage.ru_maxrss / 1024


def observations(program, broker, place):
    """Returns the commands whose costs are compared, by name."""
    node, seconds = ["--node", broker["name"]], ["--duration", f"{OBSERVED}s"]
    workload = [program, "workload", *node, *seconds, "-o", place / "model.toml"]
    return {
        "packets": [program, "packets", *node, *seconds],
        "workload --no-profile": [*workload, "--no-profile"],
        "workload": workload,
    }


def section(program, place):
    """Measures, and returns the lines of the section."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    begun = subprocess.run([program, "broker", "start", "--json"], check=True, capture_output=True, text=True)
    brokers = json.loads(begun.stdout)
    broker = brokers[0] if isinstance(brokers, list) else brokers
    load = None
    try:
        load = started(program, broker, place)
        commands = observations(program, broker, place)
        costs, memory, late = {name: [] for name in commands}, 0, []
        for number in range(ROUNDS):
            for name, words in commands.items():
                used, elapsed, _ = cost(broker["pid"], None)
                usual = used / elapsed
                used, elapsed, megabytes = cost(broker["pid"], words)
                costs[name].append(1000 * (used - usual * elapsed) / OBSERVED)
                print(f"large-node, round {number + 1}, {name}: {costs[name][-1]:+.1f} ms a second", flush=True)
                if name != "packets":
                    memory = max(memory, megabytes)
                    late.append(elapsed - OBSERVED)
    finally:
        if load:
            load.terminate()
            load.wait(120)
        subprocess.run([program, "broker", "stop", broker["name"]], capture_output=True)
    lines = len((place / "model.toml").read_text().splitlines())
    rows = [
        f"| `{name}` | {statistics.median(of):+.1f} ms | {min(of):+.1f} to {max(of):+.1f} ms |" for name, of in costs.items()
    ]
    return [
        "2,000 connections (500 publishers of 1 message a second to 1,000 queues, 1,000 consumers, 500 that hardly send),",
        f"observed for {OBSERVED} s, {ROUNDS} rounds in turn, each beside as long a time with nothing. The file has {lines} lines and is",
        f"ready {statistics.median(late):.1f} s after the capture, with the start of the program. Its memory: {memory:.0f} MB at most.",
        "",
        "| observation | broker's CPU time a second beyond the load | range |",
        "| --- | ---: | --- |",
        *rows,
        "",
        "An observation compiles a module on the node, reads tables, and removes the module, for which the VM asks each of 12,000",
        "processes. With two modules, in observations of 15 s, that cost 0.8 CPU seconds.",
    ]
