"""Plants limits and rules on throwaway brokers, and compares what `check` answers with the truth.

    RABBITSCOPE=PROGRAM python3 scripts/check [PATTERN...]

Cases are those of cases.py and rules/ whose name or kind (`rule`, `healthy`, or the limit) matches a pattern. From the environment:

    ROUNDS   repetitions (1)
    SECONDS  length of a check (10)
    PROVE    1: also measure the rate without each limit, which doubles the time; 2: do not check
    LOOK     1: also record a profile and look at the processes of each case
    OUT      directory for answers and loads (target/bench-check)
    ROWS     files with the rows of earlier measurements (`rows.jsonl`), which the tables have too. With the pattern `none`
             they have nothing else.
    DOCUMENT page of documentation that gets the tables; empty for none

Exit code 1 where an answer is wrong.
"""

import contextlib
import dataclasses
import fnmatch
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import traceback

import brokers
import documentation
import judgement
import oracle
from brokers import Load, Site
from cases import CASES
from rules import judgement as findings
from rules.healthy import HEALTHY
from rules.planted import PLANTED

SECONDS = int(os.environ.get("SECONDS_EACH", "10"))
PROVE = int(os.environ.get("PROVE", "0"))
LOOK = os.environ.get("LOOK", "") not in ("", "0")
OUT = pathlib.Path(os.environ.get("OUT", "target/bench-check"))
# Kinds of cases that plant a rule, or nothing.
RULES = ("rule", "healthy")
# Seconds over which a rate is measured.
MEASURED = 3


@contextlib.contextmanager
def loaded(case, site, sets, place):
    """Puts the load of a case on the site, with its plant. Yields the load and the end of the plant."""
    with contextlib.ExitStack() as stack:
        load = None
        if case.prepare:
            case.prepare(site)
        if case.scenario:
            load = Load(site, case.scenario, sets, case.near, place)
            stack.enter_context(load.running())
            load.wait(2)
        planted = stack.enter_context(contextlib.ExitStack())
        if case.plant:
            planted.enter_context(case.plant(site))
        if load:
            load.wait(2 + case.settle, limit=25)
        else:
            time.sleep(case.settle)
        yield load, planted.close


def conduct(case, site, place):
    """Plants a case, checks, and returns a row."""
    row = {"case": case.name, "kind": case.kind, "at": time.strftime("%H:%M:%S")}
    path = str(place / case.name)
    is_rule = case.kind in RULES
    with loaded(case, site, case.sets, place) as (load, unplant):
        if load and PROVE and not is_rule:
            watch = oracle.Watch(site)
            row["rate"], row["load"] = load.rate(case.counter, MEASURED)
            row.update(watch.figures())
        if LOOK:
            row.update(oracle.look(site, case.near, path))
        if PROVE != 2:
            began = time.monotonic()
            code, output, messages = ask(case, site)
            row["seconds"] = round(time.monotonic() - began, 1)
            pathlib.Path(path + ".json").write_text(output)
            pathlib.Path(path + ".stderr").write_text(messages)
            node = site.nodes[0].get("node-name", "")
            row.update(findings.judge(case, site, code, output) if is_rule else judgement.judge(case, code, output, node))
            # A starved node may not say its release.
            row["release"] = row.get("release") or ".".join(map(str, brokers.release()))
        if PROVE and case.is_plant_lifted and load and not is_rule:
            unplant()
            time.sleep(1)
            row["lifted"], row["lifted-load"] = load.rate(case.counter, MEASURED)
    return row


def ask(case, site):
    """Checks the node of a case, or its whole cluster."""
    if case.kind in RULES:
        return site.check(case.near, max(SECONDS, case.seconds))
    return site.check(case.near, SECONDS) if case.through is None else site.check(case.through, SECONDS, "--cluster")


def prove(case, site, place, row):
    """Measures the rate without the limit, and says whether it proves the case."""
    if case.lift:
        with loaded(dataclasses.replace(case, plant=None), site, {**case.sets, **case.lift}, place) as (load, _):
            row["lifted"], row["lifted-load"] = load.rate(case.counter, MEASURED)
    elif case.lift_spec:
        with contextlib.ExitStack() as stack:
            other = Site(stack, case.lift_spec)
            with loaded(case, other, case.sets, place) as (load, _):
                row["lifted"], row["lifted-load"] = load.rate(case.counter, MEASURED)
    if "lifted" in row:
        row["gain"] = row["lifted"] / max(row["rate"], 1e-9)
        row["proved"] = oracle.is_proved(case, row["rate"], row["lifted"])


def one_round(cases, place):
    """Conducts the cases one after the other. Neighbours with equal brokers share one."""
    place.mkdir(parents=True, exist_ok=True)
    stack, spec, site = contextlib.ExitStack(), None, None
    try:
        for case in cases:
            try:
                if case.spec != spec:
                    stack.close()
                    spec = None
                    site = Site(stack, case.spec)
                    spec = case.spec
                row = conduct(case, site, place)
                if PROVE and case.kind not in RULES:
                    prove(case, site, place, row)
            except (RuntimeError, OSError, LookupError, StopIteration, ValueError, subprocess.TimeoutExpired) as error:
                traceback.print_exc()
                row = {"case": case.name, "kind": case.kind, "judgement": judgement.NO_ANSWER, "answer": "", "error": str(error),
                       "found": {}, "more": {}}
                stack.close()
                spec = None
            show(row)
            with open(OUT / "rows.jsonl", "a") as rows:
                rows.write(json.dumps(row) + "\n")
            yield row
    finally:
        stack.close()


def show(row):
    if row["kind"] in RULES:
        found = [f"{rule}: {one['judgement']} {one.get('severity', one.get('reason'))} {one.get('subject', '')!r}" for rule, one in row["found"].items()]
        print(f"{row['case']:30} {row['kind']:12} {row['judgement']}: {'; '.join(found)} more: {row['more']}", flush=True)
        return
    said = f"{row.get('judgement', '')}: {row.get('answer', '')} {row.get('certainty', '')} {row.get('subject', '')!r}"
    proof = f"; {row['rate']:.0f}/s, {row.get('lifted', 0):.0f} without the limit" if "rate" in row else ""
    print(f"{row['case']:30} {row['kind']:12} {said}{proof}", flush=True)


def report(rows, cases):
    """Prints the tables, and writes them into the documentation."""
    limits, rules = ([row for row in rows if (row["kind"] in RULES) == is_rule] for is_rule in (False, True))
    document = os.environ.get("DOCUMENT")
    if limits:
        print(f"\n{judgement.matrix(limits)}\n\n{judgement.totals(limits)}")
    if rules:
        print(f"\n{findings.tables(rules, cases)}")
    if document and limits:
        tables = f"{judgement.totals(limits)}\n\n{judgement.matrix(limits)}\n\n{judgement.each(limits, cases)}"
        documentation.write(document, "", tables)
    if document and rules:
        documentation.write(document, ", rules", findings.tables(rules, cases))


def is_right(row):
    if row["kind"] in RULES:
        return row["judgement"] in (findings.NAMED, findings.HEALTHY)
    return row["judgement"] in (judgement.RIGHT, judgement.OTHER_SUBJECT, judgement.UNKNOWN)


def main(patterns):
    release = brokers.release()
    known = [case for case in [*CASES, *PLANTED, *HEALTHY] if not case.until or release < brokers.numbers(case.until)]
    chosen = [case for case in known if not patterns or any(
        fnmatch.fnmatch(case.name, pattern) or case.kind == pattern for pattern in patterns)]
    OUT.mkdir(parents=True, exist_ok=True)
    earlier = [json.loads(line) for file in os.environ.get("ROWS", "").split() for line in open(file)]
    (OUT / "rows.jsonl").write_text("")
    rows = []
    for number in range(1, int(os.environ.get("ROUNDS", "1")) + 1):
        rows += one_round(chosen, OUT / f"round-{number}")
    if PROVE != 2:
        report(earlier + rows, known if earlier else chosen)
    return 0 if PROVE == 2 or all(is_right(row) for row in rows) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1:]))
