"""Measures protocols in turn; see bench-protocols.sh."""

import datetime
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
PAGE = pathlib.Path("docs/measurements/performance.md")
WARM_UP = 2
# What each protocol publishes to. All messages arrive in the same stream.
EXCHANGE = 'exchange = "amq.topic"\nrouting-key = "bench.protocols"\npersistent = true'
PROTOCOLS = {
    "amqp-0-9-1": EXCHANGE,
    "amqp-1.0": EXCHANGE,
    "mqtt": 'topic = "bench/protocols"',
    "stream": 'queue = "bench-protocols"',
}
# The loads: the rate of each, 0 as fast as it goes, and the distance of its sends.
LOADS = ((RATE, "250us"), (RATE, "1ms"), (0, "250us"))
SCENARIO = """
name = "bench-protocols"
run = { duration = "%ds", warm-up = "%ds", step = "%s" }
[[queues]]
name = "bench-protocols"
type = "stream"
arguments = { x-max-length-bytes = 2000000000 }
bindings = [{ exchange = "amq.topic", routing-key = "bench.protocols" }]
[[publishers]]
protocol = "%s"
%s
confirm-window = 10000
%s
"""


def started():
    words = [PROGRAM, "broker", "start", "--json", "--plugins", "rabbitmq_stream,rabbitmq_mqtt,rabbitmq_amqp1_0"]
    broker = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    ports = {one["protocol"]: one["port"] for one in broker["listeners"]}
    return broker["name"], broker["pid"], f"{broker['uri']}?stream_port={ports['stream']}&mqtt_port={ports['mqtt']}"


def cpu_of(pid):
    """CPU seconds of a process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(place, pid, uri, protocol, load):
    """Runs a load, and returns its figures."""
    rate, step = load
    scenario = place / "scenario.toml"
    scenario.write_text(SCENARIO % (WARM_UP + SECONDS, WARM_UP, step, protocol, PROTOCOLS[protocol], f"rate = {rate}" if rate else ""))
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
        "release": run["broker"]["version"],
    }


def table(found):
    lines = ["| rate asked | protocol | confirmed a second | client's CPU a message | broker's CPU a message | confirm p50 | p99 |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    for load in LOADS:
        rate, step = load
        asked = f"{rate:,}/s, every {step.replace('us', ' µs').replace('1ms', '1 ms')}" if rate else "as fast as it goes"
        for protocol in PROTOCOLS:
            rows = found[protocol, load]

            def median(key):
                return statistics.median(row[key] for row in rows)

            def times(key):
                first = found[next(iter(PROTOCOLS)), load]
                return statistics.median(row[key] / max(base[key], 1e-9) for base, row in zip(first, rows))

            lines.append(f"| {asked} | `{protocol}` | {median('rate'):,.0f} (×{times('rate'):.2f}) "
                         f"| {median('client'):.2f} µs (×{times('client'):.2f}) "
                         f"| {median('broker'):.1f} µs (×{times('broker'):.2f}) "
                         f"| {median('p50'):.2f} ms | {median('p99'):.2f} ms |")
    return "\n".join(lines)


def turns(number):
    """The protocols in the order of a round. Each round begins with another one."""
    names = list(PROTOCOLS)
    first = number % len(names)
    return names[first:] + names[:first]


def document(found, release):
    """Replaces the table in the page of performance."""
    begin, end = "<!-- made by make bench-protocols: begin -->", "<!-- made by make bench-protocols: end -->"
    text = PAGE.read_text()
    before, _, rest = text.partition(begin)
    said = (f"Measured {datetime.date.today()} on {os.cpu_count()} CPUs, RabbitMQ {release}; {ROUNDS} rounds of {SECONDS} s each, "
            "after a warm-up of 2 s. Figures are medians; in parentheses is the median of the ratios to AMQP 0-9-1 in the same round.")
    PAGE.write_text(f"{before}{begin}\n{said}\n\n{table(found)}\n{end}{rest.partition(end)[2]}")


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    found = {(protocol, load): [] for protocol in PROTOCOLS for load in LOADS}
    name, pid, uri = started()
    try:
        with tempfile.TemporaryDirectory() as place, open(OUT / "rows.jsonl", "w") as rows:
            for number in range(ROUNDS):
                for load in LOADS:
                    for protocol in turns(number):
                        row = measured(pathlib.Path(place), pid, uri, protocol, load)
                        found[protocol, load].append(row)
                        rows.write(json.dumps({"round": number, "protocol": protocol, "asked": load, **row}) + "\n")
                        print(f"round {number + 1}: {protocol:10} {load[0] or 'max':>6} {load[1]:5} {row['rate']:9,.0f}/s, client {row['client']:.2f} µs, "
                              f"broker {row['broker']:.2f} µs", flush=True)
    finally:
        subprocess.run([PROGRAM, "broker", "stop", name], capture_output=True)
    print(f"\n{table(found)}")
    document(found, row["release"])


main()
