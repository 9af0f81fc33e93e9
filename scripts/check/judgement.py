"""Answers of the check against the truth."""

import json
import re

KINDS = ["process", "schedulers", "host", "disk", "network", "consumers", "publishers", "alarm", "distribution", "lock", "nothing",
         "unknown"]
RIGHT, OTHER_SUBJECT, UNKNOWN, WRONG, CERTAINLY_WRONG, NO_ANSWER = (
    "right", "other subject", "unknown", "wrong", "wrong and certain", "no answer")


def judge(case, code, output, node=""):
    """Returns the judgement with what was answered. `node` is the node that the check of a cluster must name."""
    try:
        report = json.loads(output)
        limit = report["limit"]
        kind = limit["kind"]
    except (ValueError, KeyError, TypeError):
        return {"judgement": NO_ANSWER, "answer": "", "code": code}
    subject, certainty = limit.get("subject") or "", limit.get("certainty") or ""
    subject = subject if isinstance(subject, str) else json.dumps(subject, ensure_ascii=False)
    answer = {"answer": kind, "subject": subject, "certainty": certainty, "share": limit.get("share"),
              "sentence": limit.get("sentence", ""), "code": code, "release": release(report)}
    judged = verdict(case, kind, subject, certainty)
    if case.through is not None and judged == RIGHT and report.get("node") != node:
        judged = OTHER_SUBJECT
    return {"judgement": judged, **answer}


def release(report):
    """Returns the release of the node, or of the first one of a cluster."""
    return next((one["rabbitmq"] for one in [report, *report.get("nodes", [])] if one.get("rabbitmq")), "")


def verdict(case, kind, subject, certainty):
    if kind == case.kind or kind in case.also:
        words = case.subject if kind == case.kind else ()
        is_named = not words or any(word.lower() in subject.lower() for word in words)
        return RIGHT if is_named else OTHER_SUBJECT
    if kind == "unknown":
        return UNKNOWN
    return CERTAINLY_WRONG if certainty == "certain" else WRONG


def matrix(rows):
    """Returns a table of Markdown: planted limits against answers. An answer that is also true counts for the planted one."""
    answered = [kind for kind in KINDS if any(column(row) == kind for row in rows)]
    lines = ["| planted | " + " | ".join(answered) + " | no answer |", "| --- |" + " ---: |" * (len(answered) + 1)]
    for planted in KINDS:
        of_kind = [row for row in rows if row["kind"] == planted]
        if of_kind:
            counts = [sum(column(row) == kind for row in of_kind) for kind in [*answered, ""]]
            lines.append(f"| {planted} | " + " | ".join(str(count or "") for count in counts) + " |")
    return "\n".join(lines)


def column(row):
    return row["kind"] if row["judgement"] in (RIGHT, OTHER_SUBJECT) else row["answer"]


def releases(rows):
    """Returns the releases of RabbitMQ, in the order of their versions."""
    found = {row["release"] for row in rows if row.get("release")}
    return sorted(found, key=lambda release: [int(part) for part in re.findall(r"\d+", release)])


def totals(rows):
    """Returns the counts, a line for each release."""
    of_release = lambda release: [row for row in rows if (row.get("release") or release) == release]
    return "\n".join(f"- RabbitMQ {release}: {total(of_release(release))}." for release in releases(rows))


def total(rows):
    """Returns the counts in words."""
    count = lambda *judgements: sum(row["judgement"] in judgements for row in rows)
    return (f"{count(RIGHT, OTHER_SUBJECT)} of {len(rows)} right ({count(OTHER_SUBJECT)} with another subject), "
            f"{count(WRONG)} wrong, {count(CERTAINLY_WRONG)} wrong and certain, {count(UNKNOWN)} unknown, "
            f"{count(NO_ANSWER)} without an answer")


def each(rows, cases):
    """Returns a table of Markdown with a line for each case."""
    columns = releases(rows)
    lines = [f"| case | planted | without the limit | {' | '.join(columns)} |", "| --- | --- | --- |" + " --- |" * len(columns)]
    for case in cases:
        of_case = [row for row in rows if row["case"] == case.name]
        if of_case:
            gains = [row["gain"] for row in of_case if row.get("gain")]
            gain = f"×{sorted(gains)[len(gains) // 2]:.1f}" if gains else ""
            answers = ["; ".join(said(row) for row in of_case if row.get("release") == release) for release in columns]
            lines.append(f"| {case.name} | {case.kind} | {gain} | {' | '.join(answers)} |")
    return "\n".join(lines)


def said(row):
    if not row["answer"]:
        return "no answer"
    note = {RIGHT: "", OTHER_SUBJECT: " (other subject)", UNKNOWN: ""}.get(row["judgement"], f" ({row['judgement']})")
    return " ".join(word for word in (row["answer"], row["certainty"]) if word) + note
