"""Proof of a plant, independent of the check: the rate without the limit, and the machine's own figures."""

import contextlib
import json
import subprocess
import time

import machine
import profiles
from machine import PROGRAM


class Watch:
    """CPU time of the machine and of the broker's nodes over a time."""

    def __init__(self, site):
        self.site = site
        self.from_time, self.from_machine = time.monotonic(), machine.cpu_times()
        self.from_nodes = [machine.cpu_of(node["pid"]) for node in site.nodes]

    def figures(self):
        seconds = time.monotonic() - self.from_time
        idle, total = (after - before for after, before in zip(machine.cpu_times(), self.from_machine))
        cores = [(machine.cpu_of(node["pid"]) - before) / seconds for node, before in zip(self.site.nodes, self.from_nodes)]
        return {"idle-share": round(idle / total, 3), "node-cores": [round(one, 2) for one in cores]}


def look(site, index, place, seconds=3):
    """Records profiles and looks at the busiest processes. Returns figures for the eye of a person."""
    node = site.nodes[index]["node-name"] if index else site.nodes[0]["name"]
    words = [PROGRAM, "profile", "--node", node, "--event", "cpu,off-cpu", "--duration", f"{seconds}s", "-o", place + ".pb.gz"]
    recorded = subprocess.run(site.words(*words), capture_output=True, text=True, env=site.environment, timeout=60)
    words = site.words(PROGRAM, "top", "--node", node, "--interval", "2s", "--json")
    top = subprocess.run(words, capture_output=True, text=True, env=site.environment, timeout=60)
    with open(place + ".profile.txt", "w") as file:
        file.write(recorded.stdout + recorded.stderr)
    with open(place + ".top.json", "w") as file:
        file.write(top.stdout)
    found = {}
    with contextlib.suppress(OSError, ValueError):
        cpu, waits = place + "-cpu.pb.gz", place + "-off-cpu.pb.gz"
        found["cores"] = profiles.sums(cpu, lambda frames, labels: profiles.owner(labels))
        found["threads"] = profiles.sums(cpu, lambda frames, labels: frames[-1])
        found["blocked"] = profiles.sums(waits, lambda frames, labels: profiles.owner(labels), "[blocked]")
        found["runnable"] = profiles.sums(waits, lambda frames, labels: frames[-1], "[runnable]", 3)
        found["blocked-in"] = profiles.sums(waits, innermost, "[blocked]", 5)
    with contextlib.suppress(ValueError):
        found["scheduler-use"] = json.loads(top.stdout).get("scheduler-use")
    return found


def innermost(frames, labels):
    """The innermost Erlang function, or BIF."""
    erlang = [frame for frame in frames if ":" in frame and "/" in frame]
    return erlang[0] if erlang else frames[0]


def is_proved(case, base, lifted):
    """The rate without the limit is as much higher as the case says."""
    return lifted >= max(case.gain * base, 1)
