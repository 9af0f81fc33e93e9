//! The page that lists all rules, written from their table.

use std::fmt::Write;

use super::{
    rule::{Minimum, Rule},
    table::RULES,
};

const HEAD: &str = "# Findings of `check`

Each finding has evidence with its source and time, the change in this version's syntax with its cost, and, where it can
be derived, an upper bound of the gain. Critical findings come first, then warnings, then notes; within each the largest
possible gain comes first. One finding changes each setting; others about it name that finding. Below its least evidence
a rule is *not judged*, with the reason.

`make reference` writes this page from the table of rules.

| rule | meaning | least evidence | threshold | change | source |
| --- | --- | --- | --- | --- | --- |
";

const TAIL: &str = "
## Severities

| severity | meaning |
| --- | --- |
| critical | clients fail or are blocked, or will be soon |
| warning | costs time or throughput now |
| note | worth knowing |

## Bounds

If the share *s* of a stage's time goes away, and the stage is busy *u* of its time, the gain is at most
1 / (1 − *s* · min(1, *u* / *n*)) − 1. *n* is the busy share of the next stage that is one process, and the gain is at
most 1 / *n* − 1 as well. A stage of several equal processes is no bound. A gain without a derivation has no bound.

If work beside messages goes away, such as the opening of connections, the gain is in messages for the same CPU time. It is
at most that of a node with nothing but the processes that carry messages now: queues, and channels with messages.

## Shared processes

The CPU time of logs and message stores is divided among their queues by published messages per second, that of channels
by delivered ones. The CPU time of queues without a row and of other work is named as the rest.

## Packets

Findings about packets have `packets-` before their name. [Findings about packets](packet-findings.md) describes them.
Where the node is known, they name clients by their own names.

## Not judged

No threshold is known for locks of ETS tables, dirty I/O schedulers, garbage collection of long mailboxes, large
headers, and the trie of topic exchanges. The node does not show the bytes of messages in memory, live bytes of the
message store, gaps in confirms at a deletion, and the time of a scrape.
";

/// Returns the page in Markdown.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    for rule in RULES {
        let Rule { name, meaning, minimum, threshold, change, source, .. } = rule;
        let least = least(minimum);
        // Writing to a string cannot fail.
        let _ =
            writeln!(page, "| {name} | {meaning} | {least} | {threshold} | {change} | {source} |");
    }
    page + TAIL
}

fn least(minimum: &Minimum) -> String {
    match (minimum.seconds, minimum.counts) {
        (0, counts) => counts.to_owned(),
        (seconds, "") => format!("{seconds} s"),
        (seconds, counts) => format!("{seconds} s; {counts}"),
    }
}
