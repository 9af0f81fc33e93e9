"""Findings of the check against the planted ones."""

import json
import pathlib
import re

import machine
from rules.planted import BYSTANDERS

NAMED, OTHER_SUBJECT, MISSED, HEALTHY, FALSE, NO_ANSWER = (
    "named", "other subject", "missed", "healthy", "false finding", "no answer")
# About other programs on this machine, where others work as well.
OF_THE_MACHINE = ("neighbours", "shared-cores", "steal")


def judge(case, site, code, output):
    """Returns the judgement with what was found."""
    try:
        answer = json.loads(output)
        findings = answer["findings"]
    except (ValueError, KeyError, TypeError):
        return {"judgement": NO_ANSWER, "answer": "", "code": code, "found": {}, "more": {}}
    unjudged = {row["rule"]: row["reason"] for row in answer.get("not-judged", [])}
    found = {rule: one_rule(rule, [word.format(**places(site)) for word in words], findings, unjudged)
             for rule, words in case.finds.items()}
    loud = [row for row in findings if row["severity"] != "note" and row["rule"] not in case.finds]
    more = {row["rule"]: row["sentence"] for row in loud if row["rule"] not in OF_THE_MACHINE}
    machine = {row["rule"]: row["sentence"] for row in loud if row["rule"] in OF_THE_MACHINE}
    limit = answer.get("limit") or {}
    return {"judgement": worst(case, found, more), "answer": limit.get("kind", ""), "certainty": limit.get("certainty", ""), "code": code,
            "found": found, "more": more, "machine": machine, "notes": [row["rule"] for row in findings if row["severity"] == "note"]}


def places(site):
    names = [node["node-name"] for node in site.nodes]
    disk = pathlib.Path("/sys/dev/block") / machine.device_of(site.nodes[0]["directory"])
    return {"node": names[0], "other": names[-1], "disk": disk.resolve().name, "peer": site.nodes[-1]["pid"]}


def one_rule(rule, words, findings, unjudged):
    """Returns the judgement of one rule, by the first subject of its findings. Programs of others may come before a planted one."""
    of_rule = [row for row in findings if row["rule"] == rule]
    most = None if rule in OF_THE_MACHINE else 1
    firsts = [subject for row in of_rule for subject in row["subjects"][:most]]
    if not of_rule:
        return {"judgement": MISSED, "reason": unjudged.get(rule, "")}
    named = [subject for subject in firsts if is_named(subject, words)]
    said = {"severity": of_rule[0]["severity"], "sentence": of_rule[0]["sentence"], "subject": (named or firsts or [""])[0]}
    return {"judgement": NAMED if named else OTHER_SUBJECT, **said}


def is_named(subject, words):
    others = [name for name in BYSTANDERS if name not in words]
    return any(word in subject for word in words) and not any(f"rabbitscope {name}" in subject for name in others)


def worst(case, found, more):
    if not case.finds:
        return FALSE if more else HEALTHY
    judgements = [one["judgement"] for one in found.values()]
    return next((one for one in (MISSED, OTHER_SUBJECT) if one in judgements), NAMED)


def totals(rows):
    """Returns the counts in a sentence."""
    rules = {}
    for row in rows:
        for rule, one in row["found"].items():
            rules.setdefault(rule, []).append(one["judgement"])
    count = lambda judgement: sum(judgement in judgements for judgements in rules.values())
    right = sum(set(judgements) == {NAMED} for judgements in rules.values())
    healthy = [row for row in rows if row["kind"] == "healthy"]
    silent = sum(row["judgement"] == HEALTHY for row in healthy)
    return (f"{right} of {len(rules)} planted rules found, with the right subject first ({count(OTHER_SUBJECT)} with another subject, "
            f"{count(MISSED)} missed); {silent} of {len(healthy)} healthy loads without a finding at warning level")


def planted_table(rows, cases):
    """Returns a table of Markdown with a line for each planted rule."""
    lines = ["| rule | planted | found | subject | other findings at warning level |", "| --- | --- | --- | --- | --- |"]
    for case in (case for case in cases if case.kind == "rule"):
        for rule in case.finds:
            of_case = [row for row in rows if row["case"] == case.name]
            if of_case:
                found = "; ".join(said(row["found"].get(rule)) for row in of_case)
                subject = next((shown(row["found"][rule].get("subject", "")) for row in of_case if rule in row["found"]), "")
                lines.append(f"| {rule} | {case.how} | {found} | {subject} | {others(of_case)} |")
    return "\n".join(lines)


def healthy_table(rows, cases):
    """Returns a table of Markdown with a line for each healthy load."""
    lines = ["| healthy load | findings at warning level | limit |", "| --- | --- | --- |"]
    for case in cases:
        of_case = [row for row in rows if row["case"] == case.name and row["kind"] == "healthy"]
        if of_case:
            limits = "; ".join(f"{row['answer']} {row.get('certainty', '')}".strip() or NO_ANSWER for row in of_case)
            lines.append(f"| {case.how} | {others(of_case) or 'none'} | {limits} |")
    return "\n".join(lines)


def said(one):
    if one is None:
        return NO_ANSWER
    if one["judgement"] == MISSED:
        return MISSED + (f" ({one['reason']})" if one["reason"] else "")
    return one["severity"] + ("" if one["judgement"] == NAMED else f" ({OTHER_SUBJECT})")


def others(rows):
    return ", ".join(sorted({rule for row in rows for rule in row["more"]}))


def shown(subject):
    """Returns a subject without what differs from run to run, for a cell."""
    subject = re.sub(r"(127\.0\.0\.1):\d+( -> 127\.0\.0\.1:\d+)?( \(\d+\))?", r"\1:PORT", subject)
    subject = re.sub(r"<\d+\.\d+\.\d+>", "PID", re.sub(r"\(\d+\)", "(PID)", re.sub(r"process \d+", "process PID", subject)))
    subject = re.sub(r"rabbitscope-[\w.-]+@[\w.-]+", "NODE", subject)
    return subject.replace("|", "\\|")[:70]


def tables(rows, cases):
    return f"{totals(rows)}.\n\n{planted_table(rows, cases)}\n\n{healthy_table(rows, cases)}"
