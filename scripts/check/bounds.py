"""Runs the experiments that `check` writes for planted rules, and compares the measured gains with its bounds.

    RABBITSCOPE=PROGRAM python3 scripts/check/bounds.py [RULE...]

From the environment:

    ROUNDS   rounds of an experiment (8, the fewest with which it can decide)
    SECONDS  length of a run (the one that `check` writes)
    SETS     further settings of the experiments, such as `design.max-others="90%"` on a machine with other work
    OUT      directory for answers and experiments, replaced by rule (target/bench-check/bounds)
    DOCUMENT page of documentation whose table gets the rows; empty for none

Exit code 1 where a gain exceeds its bound beyond the interval.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import traceback

import documentation
from brokers import Load, Site
from cases import CASES
from machine import PROGRAM
from rules.planted import PLANTED

ROUNDS = int(os.environ.get("ROUNDS", "8"))
SECONDS = os.environ.get("SECONDS", "")
SETS = os.environ.get("SETS", "").split()
OUT = pathlib.Path(os.environ.get("OUT", "target/bench-check/bounds"))
# File of a directory that this program made, and may replace.
MARK = ".made-by-bounds"
# Mark of the table in a document.
PART = ", bounds"
# Length of a check, in seconds.
CHECK = 8
# Time for an experiment, in seconds.
LIMIT = 1200


@dataclasses.dataclass(frozen=True)
class Trial:
    """A rule, and the case that plants it."""

    rule: str
    case: object


def planted(name):
    return next(case for case in [*PLANTED, *CASES] if case.name == name)


TRIALS = [
    Trial("low-prefetch", planted("low-prefetch")),
    Trial("polling", planted("polling")),
    Trial("transactions", planted("transactions")),
    Trial("confirm-window", planted("confirm-window")),
    Trial("connection-churn", planted("connection-churn")),
    Trial("channel-churn", planted("channel-churn")),
    Trial("queue-churn", planted("queue-churn")),
    Trial("queue-bound", planted("queue-bound")),
    Trial("channel-bound", planted("channel-bound")),
    # As fast as it goes: a latency has no bound.
    Trial("few-schedulers", dataclasses.replace(planted("few-schedulers"), sets={})),
    Trial("busy-wait", planted("busy-wait")),
    Trial("tracing", planted("tracing")),
    Trial("http-load", planted("http-load")),
    Trial("quorum-soft-limit", planted("quorum-soft-limit")),
    Trial("packets-application-limited", planted("application-limited")),
    Trial("packets-ack-per-message", planted("ack-per-message")),
    Trial("statistics-overload", planted("statistics-overload")),
]


def checked(trial, place):
    """Plants the case, and returns the report of the check that writes its experiments into `place`."""
    case = trial.case
    with contextlib.ExitStack() as stack:
        site = Site(stack, case.spec)
        if case.prepare:
            case.prepare(site)
        if case.scenario:
            flood = Load(site, case.scenario, case.sets, case.near, place.parent)
            stack.enter_context(flood.running())
            flood.wait(2)
        if case.plant:
            stack.enter_context(case.plant(site))
        if case.scenario:
            flood.wait(2 + case.settle, limit=25)
        code, output, messages = site.check(case.near, max(CHECK, case.seconds), "--write-experiments", place)
    if code != 0:
        raise RuntimeError(f"check ended with {code}: {messages[-600:]}")
    return json.loads(output)


def proved(file, out):
    """Runs an experiment, and returns its result."""
    words = [PROGRAM, "experiment", file, "--json", "--out", out, "--set", f"design.rounds={ROUNDS}", "--set",
             f"design.looks=[{ROUNDS}]", *(word for setting in SETS for word in ("--set", setting))]
    if SECONDS:
        load_file = file.with_name(re.search(r'(?m)^base = "(.*)"', file.read_text())[1])
        load_file.write_text(re.sub(r'(?m)^duration = ".*"', f'duration = "{SECONDS}s"', load_file.read_text(), count=1))
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=LIMIT)
    if not done.stdout:
        raise RuntimeError(f"experiment ended with {done.returncode}: {done.stderr[-800:]}")
    return json.loads(done.stdout)


def gains(result):
    """The gain of the changed arm in the deciding metric: estimate, lower and upper bound, verdict."""
    one = next(one for one in result["comparisons"] if one["role"] == "primary")
    metric = result["metrics"][one["metric"]]
    is_less_better = metric["goal"] == "lower"
    turn = lambda ratio: None if ratio is None else (1 / ratio if is_less_better else ratio) - 1
    edges = [turn(one.get(edge)) for edge in ("low", "high")]
    low, high = sorted(edges) if None not in edges else (None, None)
    return metric["name"], turn(one.get("ratio")), low, high, one["verdict"]


def is_bounded(metric):
    """Returns whether a bound holds for a metric: for throughput and for its inverse, the CPU time for a message."""
    return metric.endswith(".rate") or metric == "broker.cpu-per-message"


def conduct(trial):
    place = OUT / trial.rule
    if (place / MARK).exists():
        shutil.rmtree(place)
    place.mkdir(parents=True)
    (place / MARK).touch()
    files = place / "experiments"
    report = checked(trial, files)
    (place / "check.json").write_text(json.dumps(report))
    found = [one for one in report["findings"] if one["rule"] == trial.rule]
    if not found:
        return {"rule": trial.rule, "verdict": "not found"}
    finding = found[0]
    bound = (finding.get("bound") or {}).get("throughput")
    if not finding.get("experiment"):
        return {"rule": trial.rule, "bound": bound, "verdict": "no experiment"}
    result = proved(files / finding["experiment"], place / "result")
    metric, gain, low, high, verdict = gains(result)
    is_within = low <= bound if is_bounded(metric) and None not in (bound, low) else None
    return {"rule": trial.rule, "bound": bound, "metric": metric, "gain": gain, "low": low, "high": high, "verdict": verdict,
            "within": is_within, "how": trial.case.how, "change": finding["change"]["sentence"]}


def percent(share):
    return "" if share is None else f"{share * 100:+.1f} %" if abs(share) < 2 else f"×{share + 1:.1f}"


def table(rows, earlier):
    """Returns the table of these rows, and of earlier lines about other rules."""
    lines = dict(earlier)
    for row in rows:
        if "metric" in row:
            edges = f"{percent(row['low'])} to {percent(row['high'])}" if row["low"] is not None else "too few rounds"
            bound = percent(row["bound"]) or "none"
            if not is_bounded(row["metric"]) and bound != "none":
                bound += " of throughput"
            lines[row["rule"]] = (f"| {row['rule']} | {row['how']} | {row['metric']} | {percent(row['gain'])} | {edges} | "
                                  f"{bound} |")
    head = ["| rule | planted | metric | gain | interval | bound |", "| --- | --- | --- | ---: | --- | ---: |"]
    return "\n".join([*head, *(lines[trial.rule] for trial in TRIALS if trial.rule in lines)])


def lines_of(document):
    """Returns the lines of the table in a document, by rule."""
    if not document:
        return {}
    found = documentation.read(document, PART).splitlines()[2:]
    return {line.split("|")[1].strip(): line for line in found}


def main(rules):
    OUT.mkdir(parents=True, exist_ok=True)
    rows = []
    for trial in TRIALS:
        if rules and trial.rule not in rules:
            continue
        try:
            row = conduct(trial)
        except (RuntimeError, OSError, LookupError, StopIteration, ValueError, subprocess.TimeoutExpired) as error:
            traceback.print_exc()
            row = {"rule": trial.rule, "verdict": "no answer", "error": str(error)}
        print(json.dumps(row), flush=True)
        with open(OUT / "rows.jsonl", "a") as file:
            file.write(json.dumps(row) + "\n")
        rows.append(row)
    document = os.environ.get("DOCUMENT", "")
    tables = table(rows, lines_of(document))
    print(tables)
    if document:
        documentation.write(document, PART, tables)
    return 1 if any(row.get("within") is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
