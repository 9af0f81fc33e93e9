"""Measures protocols in turn; see bench-protocols.sh."""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

PROGRAM = os.environ["RABBITSCOPE"]
ROUNDS = int(os.environ.get("ROUNDS", "5"))
SECONDS = int(os.environ.get("SECONDS_EACH", "8"))
RATE = int(os.environ.get("RATE", "20000"))
OUT = pathlib.Path("target/bench-protocols")
WARM_UP = 2
PROTOCOLS = ("amqp-0-9-1", "stream")
SCENARIO = """
name = "bench-protocols"
run = { duration = "%ds", warm-up = "%ds" }
[[queues]]
name = "bench-protocols"
type = "stream"
arguments = { x-max-length-bytes = 2000000000 }
[[publishers]]
queue = "bench-protocols"
protocol = "%s"
confirm-window = 10000
%s
"""


def started():
    words = [PROGRAM, "broker", "start", "--json", "--plugins", "rabbitmq_stream"]
    broker = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    port = next(one["port"] for one in broker["listeners"] if one["protocol"] == "stream")
    return broker["name"], broker["pid"], f"{broker['uri']}?stream_port={port}"


def cpu_of(pid):
    """CPU seconds of a process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(place, pid, uri, protocol, rate):
    """Runs a load, and returns its figures."""
    scenario = place / "scenario.toml"
    scenario.write_text(SCENARIO % (WARM_UP + SECONDS, WARM_UP, protocol, f"rate = {rate}" if rate else ""))
    out = place / "out"
    shutil.rmtree(out, ignore_errors=True)
    environment = {**os.environ, "RABBITSCOPE_URI": uri}
    words = [PROGRAM, "run", scenario, "--out", out, "--remove-leftovers", "--assume-unbound",
             "--set", "run.self-check=false"]
    before = cpu_of(pid)
    done = subprocess.run([str(word) for word in words], env=environment, capture_output=True, text=True)
    if not (out / "run.json").exists():
        raise SystemExit(f"bench-protocols: {done.stderr.strip()}")
    spent = cpu_of(pid) - before
    run = json.loads((out / "run.json").read_text())
    load, seconds = run["measured"]["load"], run["measured"]["duration-nanos"] / 1e9
    confirms = next(one for one in run["latencies"] if one["name"] == "confirm")
    return {
        "rate": load["confirmed"] / seconds,
        "client": load["client-cpu-nanos"] / 1e3 / load["published"],
        "broker": spent * 1e6 / run["load"]["published"],
        "p50": confirms["p50"] / 1e6,
        "p99": confirms["p99"] / 1e6,
    }


def table(found):
    lines = ["| rate asked | protocol | confirmed a second | client's CPU a message | broker's CPU a message | confirm p50 | p99 |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    for rate in (RATE, 0):
        for protocol in PROTOCOLS:
            median = lambda key: statistics.median(one[key] for one in found[protocol, rate])
            asked = f"{rate:,}/s" if rate else "as fast as it goes"
            lines.append(f"| {asked} | `{protocol}` | {median('rate'):,.0f} | {median('client'):.2f} µs | {median('broker'):.2f} µs "
                         f"| {median('p50'):.2f} ms | {median('p99'):.2f} ms |")
        ratios = {key: statistics.median(two[key] / max(one[key], 1e-9) for one, two in
                                         zip(found[PROTOCOLS[0], rate], found[PROTOCOLS[1], rate]))
                  for key in ("rate", "client", "broker")}
        said = ", ".join(f"{key} ×{ratio:.2f}" for key, ratio in ratios.items())
        lines.append(f"| | ratio in the same round | {said} | | | | |")
    return "\n".join(lines)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    found = {(protocol, rate): [] for protocol in PROTOCOLS for rate in (RATE, 0)}
    name, pid, uri = started()
    try:
        with tempfile.TemporaryDirectory() as place, open(OUT / "rows.jsonl", "w") as rows:
            for number in range(ROUNDS):
                for rate in (RATE, 0):
                    for protocol in PROTOCOLS if number % 2 == 0 else PROTOCOLS[::-1]:
                        row = measured(pathlib.Path(place), pid, uri, protocol, rate)
                        found[protocol, rate].append(row)
                        rows.write(json.dumps({"round": number, "protocol": protocol, "asked": rate, **row}) + "\n")
                        print(f"round {number + 1}: {protocol:10} {rate or 'max':>6} {row['rate']:9,.0f}/s, client {row['client']:.2f} µs, "
                              f"broker {row['broker']:.2f} µs", flush=True)
    finally:
        subprocess.run([PROGRAM, "broker", "stop", name], capture_output=True)
    print(f"\n{table(found)}")


main()
