"""Round trips of loads, and wrong models; see bench-workload.sh."""

import datetime
import json
import math
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tomllib

PROGRAM = str(pathlib.Path(os.environ["RABBITSCOPE"]).resolve())
OUT = pathlib.Path("target/bench-workload")
LARGE_NODE = "## A large node"
PAGE = pathlib.Path("docs/measurements/workload.md")
SOURCES = pathlib.Path("scripts/workload")
sys.path.insert(0, str(SOURCES))
import foreign  # noqa: E402
import large  # noqa: E402

ALL = sorted(path.stem for path in SOURCES.glob("*.toml")) + foreign.NAMES
NAMES = os.environ.get("SCENARIOS", " ".join(ALL)).split()
WRONG = os.environ.get("WRONG", "yes") == "yes"
LARGE = os.environ.get("LARGE", "yes" if set(NAMES) == set(ALL) else "no") == "yes"
# Scenario, table, key: the first group that has the key is changed by 20 %.
WRONGS = [
    ("queue-types", "publishers", "rate"),
    ("queue-types", "publishers", "size"),
    ("queue-types", "consumers", "prefetch"),
    ("topic", "publishers", "rate"),
    ("topic", "publishers", "size"),
    ("slow-consumers", "publishers", "rate"),
    ("slow-consumers", "publishers", "size"),
    ("slow-consumers", "consumers", "prefetch"),
    ("bursts", "publishers", "size"),
    ("bursts", "consumers", "prefetch"),
    ("many-queues", "publishers", "rate"),
    ("rpc", "requests", "rate"),
    ("relays", "publishers", "rate"),
    ("one-connection", "publishers", "rate"),
    ("one-connection", "consumers", "prefetch"),
    ("flood", "publishers", "confirm-window"),
    ("flood", "consumers", "prefetch"),
    ("amqp10", "publishers", "rate"),
    ("amqp10", "consumers", "prefetch"),
    ("mqtt", "publishers", "rate"),
    ("streams", "publishers", "rate"),
    ("streams", "publishers", "size"),
]


def called(*words):
    """Runs the program, and returns its exit code and output."""
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def modelled(name):
    """Runs a scenario of the folder, and returns the path of the scenario that was made of its packets."""
    place = OUT / name
    if name in foreign.NAMES:
        return foreign.modelled(PROGRAM, name, place)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    code, _, error = called("run", SOURCES / f"{name}.toml", "--out", place / "source", "--set", "packets.duration=30s",
                            "--set", "packets.save=true", "--set", "run.queue-depths=false", "--plain")
    if not (place / "source" / "packets.pcapng").exists():
        raise SystemExit(f"{name}: exit code {code}: {error.strip()}")
    model = place / "model.toml"
    code, _, error = called("workload", "--pcap", place / "source" / "packets.pcapng", "-o", model)
    if code != 0:
        raise SystemExit(f"{name}: exit code {code}: {error.strip()}")
    return model


def compared(model, place, *options):
    """Compares a model with its source, and returns the likeness."""
    code, output, error = called("workload", "--compare", model, "--json", "--out", place, *options)
    if code not in (0, 3, 4):
        raise SystemExit(f"{model}: exit code {code}: {error.strip()}")
    place.joinpath("likeness.json").write_text(output)
    return json.loads(output)


def figures(likeness, verdict):
    """Returns group and figure of each figure with this verdict."""
    found = [(group["group"], figure) for group in likeness["groups"] for figure in group["figures"]]
    found += [("whole load", figure) for figure in likeness["whole"]]
    named = [(group, figure) for group, figure in found if figure["verdict"] == verdict]
    missing = [group["group"] for group in likeness["groups"] if not group["figures"]]
    return named, missing if verdict == "differs" else []


def described(figure):
    """Returns a difference in words."""
    if figure["name"] in ("sizes", "keys", "gaps"):
        return f"{figure['name']} by {figure['difference']:.3f}"
    return f"{figure['name']} by {100 * figure['difference']:.1f} %"


def round_trip(name):
    """Returns a row of the table of round trips."""
    try:
        model = modelled(name)
    except foreign.Missing as missing:
        print(f"{name}: {missing}", flush=True)
        return f"| {name} | | | | | {missing} |"
    likeness = compared(model, OUT / name / "run")
    alike, _ = figures(likeness, "alike")
    open_, _ = figures(likeness, "not-judged")
    differ, missing = figures(likeness, "differs")
    words = [f"{group}: {described(figure)}" for group, figure in differ] + [f"{group}: missing" for group in missing]
    groups = len(likeness["groups"])
    print(f"{name}: {len(alike)} alike, {len(open_)} not judged, {len(differ)} differ: {'; '.join(words)}", flush=True)
    return f"| {name} | {groups} | {len(alike)} | {len(open_)} | {len(differ) + len(missing)} | {'; '.join(words)} |"


def changed(model, table, key):
    """Returns the option that changes the first value of a key by 20 %, and the name of its group."""
    scenario = tomllib.loads(model.read_text())
    for place, group in enumerate(scenario.get(table, [])):
        if key in group:
            value = group[key]
            if key == "size":
                number = value.rstrip("KMiB")
                unit = value[len(number):]
                factor = {"B": 1, "KiB": 1024, "MiB": 1 << 20}[unit]
                new = f"{round(float(number) * factor * 1.2)}B"
            else:
                new = round(value * 1.2, 4) if key == "rate" else math.ceil(value * 1.2)
            return f"{table}.{place}.{key}={new}", group["name"]
    raise SystemExit(f"{model}: no {table} with {key}")


def wrong(name, table, key, number):
    """Returns a row of the table of wrong models, and whether the group was named."""
    model = OUT / name / "model.toml"
    option, group = changed(model, table, key)
    place = OUT / name / f"wrong-{number}"
    shutil.rmtree(place, ignore_errors=True)
    likeness = compared(model, place, "--set", option)
    differ, missing = figures(likeness, "differs")
    of_group = [described(figure) for of, figure in differ if of == group]
    others = sorted({of for of, _ in differ if of not in (group, "whole load")} | set(missing))
    is_found = bool(of_group)
    print(f"{name}: {option}: {'found' if is_found else 'NOT FOUND'}: {'; '.join(of_group)}", flush=True)
    others = ", ".join(others)
    row = f"| {name} | `{option}` | {group} | {'yes' if is_found else '**no**'} | {'; '.join(of_group)} | {others} |"
    return row, is_found


def kept(rows, are_wrong):
    """Returns rows of a table, with those of other scenarios that the page has already, sorted."""
    old = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")] if PAGE.exists() else []
    # The changed value of a wrong model is in backquotes.
    of_table = [line for line in old if line.split("|")[2].strip().startswith("`") == are_wrong]
    names = set(ALL) - set(NAMES)
    if are_wrong and not WRONG:
        names |= set(NAMES)
    return sorted([line for line in of_table if line.split(" ")[1] in names] + rows)


def large_node():
    """Returns the section about a large node: measured, or that of the page."""
    if LARGE:
        return [LARGE_NODE, "", *large.section(PROGRAM, OUT / "large-node")]
    old = PAGE.read_text() if PAGE.exists() else ""
    return "".join(old.partition(LARGE_NODE)[1:]).splitlines()


def machine():
    """Describes the machine."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    cpu = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown CPU")
    return f"{os.cpu_count()} CPUs ({cpu}), Linux {platform.release()}"


def measured(load_before):
    """Returns the lines about time and machine. A part of the scenarios keeps those of the other rows."""
    at = f"{datetime.date.today()} on {machine()}. Other processes kept {load_before:.1f} CPUs busy at the start."
    if set(NAMES) == set(ALL):
        return [f"Measured {at}"]
    old = PAGE.read_text().splitlines() if PAGE.exists() else []
    lines = [line for line in old if line.startswith("Measured ")]
    for line in old:
        if line.startswith("Rows of "):
            names, rest = line.removeprefix("Rows of ").split(": ", 1)
            kept = [name for name in names.split(", ") if name not in NAMES]
            lines += [f"Rows of {', '.join(kept)}: {rest}"] if kept else []
    return [*lines, f"Rows of {', '.join(NAMES)}: {at}"] if NAMES else lines


def main():
    """Makes all round trips, then all wrong models."""
    OUT.mkdir(parents=True, exist_ok=True)
    load_before = os.getloadavg()[0]
    rows = [round_trip(name) for name in NAMES]
    wrongs = [one for one in WRONGS if one[0] in NAMES] if WRONG else []
    judged = [wrong(*one, number) for number, one in enumerate(wrongs)]
    found = sum(is_found for _, is_found in judged)
    PAGE.write_text("\n".join([
        "# Likeness of modelled loads",
        "",
        "`make bench-workload` writes this page. Each scenario of `scripts/workload` ran for 30 s with its packets, and was",
        "modelled from these alone. Clients of `scripts/workload/clients` were observed for 30 s in the midst of their load,",
        "with what their node says. [`workload --compare`](../tasks/compare-loads.md) ran the model and compared it. With",
        "`SCENARIOS=`, only rows of these scenarios are replaced.",
        "",
        *measured(load_before),
        "",
        "## Round trips",
        "",
        "| scenario | groups | alike | not judged | differ | differences |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
        *kept(rows, False),
        "",
        "*Not judged* figures have too few messages for their bar, and no larger difference than so few explain.",
        "",
        "## Wrong models",
        "",
        "One value of one group was changed by 20 %. The comparison must name the group.",
        "",
        "| scenario | change | group | named | its differences | other groups that differ |",
        "| --- | --- | --- | --- | --- | --- |",
        *kept([row for row, _ in judged], True),
        "",
        *large_node(),
        "",
    ]))
    if found < len(judged):
        raise SystemExit(1)


main()
