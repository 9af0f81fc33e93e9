//! The result of a check as text, at most forty lines: the limit first. `room` has the share of each section.

use std::fmt::{self, Write as _};

use rabbitscope_text::{Align, escapes, table};

use super::{
    CheckReport,
    amqp_text::amqp,
    room::{LINES, ROOMS, Room, left_out},
};
use crate::{
    case::Unread,
    finding::{Bound, Finding},
    flow::{FlowChain, FlowRoot},
    limit::{Candidate, Certainty, Limit, LimitKind},
};

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl CheckReport {
    /// Writes the text into the largest room in which it has at most [`LINES`] lines.
    fn text(&self) -> String {
        let mut text = String::new();
        for room in ROOMS {
            text = self.text_in(room);
            if text.lines().count() <= LINES {
                break;
            }
        }
        text
    }

    fn text_in(&self, room: Room) -> String {
        let mut text = format!("limit     {}\n", sentence(&self.limit));
        for evidence in self.limit.evidence.iter().take(room.evidence) {
            let _ = writeln!(text, "          {}", single(&evidence.figure));
        }
        text += &left_out(self.limit.evidence.len(), room.evidence, "figure");
        if let Some(second) = &self.limit.runner_up {
            let _ = writeln!(text, "next      {}", runner_up(second));
        }
        text += &flow(&self.flow, room.chains);
        text += &self.amqp.as_ref().map_or_else(String::new, |found| amqp(found, room.queues));
        if let Some(costs) = &self.costs {
            let _ = writeln!(text, "costs     {costs}");
        }
        if let Some(memory) = &self.memory {
            let _ = writeln!(text, "memory    {memory}");
        }
        text.extend(self.findings.iter().take(room.findings).map(lines_of));
        text += &left_out(self.findings.len(), room.findings, "finding");
        text += &self.differing(room.differences);
        text += &self.healthy();
        text += &unread(&self.unread, room.unread);
        let seconds = self.duration_nanos as f64 / 1e9;
        let version = match single(&self.rabbitmq).as_str() {
            "" => String::new(),
            version => format!(", RabbitMQ {version}"),
        };
        let _ = write!(text, "checked   {}{version}, for {seconds:.0} s", single(&self.node));
        escapes::text(&text).into_owned()
    }

    fn differing(&self, most: usize) -> String {
        let lines = self.differences.iter().flat_map(|differences| differences.lines(most));
        let titles = std::iter::once("differs").chain(std::iter::repeat(""));
        titles.zip(lines).fold(String::new(), |mut text, (title, line)| {
            let _ = writeln!(text, "{title:<9} {line}");
            text
        })
    }

    fn healthy(&self) -> String {
        let mut text = String::new();
        if !self.healthy.is_empty() {
            let titles = shortened(&self.healthy);
            let _ = writeln!(text, "healthy   {titles}");
        }
        if !self.not_judged.is_empty() {
            let names: Vec<String> = self.not_judged.iter().map(|rule| rule.rule.clone()).collect();
            let _ = writeln!(text, "not judged  {}", shortened(&names));
        }
        text
    }
}

/// Returns the sentence of the limit. Doubt stands in the sentence itself.
pub(super) fn sentence(limit: &Limit) -> String {
    let sentence = single(&limit.sentence);
    let named = match limit.kind {
        LimitKind::Nothing | LimitKind::Unknown => sentence,
        kind => format!("{}: {sentence}", kind.title()),
    };
    match limit.certainty {
        Certainty::Certain => named,
        Certainty::Likely => format!("{named} (likely)"),
        Certainty::Uncertain if limit.kind == LimitKind::Unknown => named,
        Certainty::Uncertain => format!("{named} (uncertain)"),
    }
}

fn runner_up(second: &Candidate) -> String {
    format!("{}: {}", second.kind.title(), single(&second.sentence))
}

fn flow(roots: &[FlowRoot], most: usize) -> String {
    let chains = roots.iter().flat_map(|root| root.chains.iter().map(move |chain| (root, chain)));
    let count = chains.clone().count();
    if count == 0 {
        return String::new();
    }
    let rows: Vec<[String; 3]> =
        chains.take(most).map(|(root, chain)| chain_row(root, chain)).collect();
    let columns = [("in flow", Align::Left), ("blocked", Align::Right), ("waits for", Align::Left)];
    let table = table(columns, &rows);
    let lines: Vec<String> = table.lines().map(|line| format!("          {line}")).collect();
    format!("flow\n{}\n{}", lines.join("\n"), left_out(count, most, "chain"))
}

fn chain_row(root: &FlowRoot, chain: &FlowChain) -> [String; 3] {
    let mut links = chain.links.iter();
    let first = links.next();
    let name = first.map_or_else(String::new, |link| match link.client.as_str() {
        "" => link.name.clone(),
        client => format!("{client} ({})", link.name),
    });
    let further = links.map(|link| format!("{} {:.0} %", link.role, link.blocked_share * 100.0));
    let end = if chain.is_circle {
        "a circle: none can continue by itself".to_owned()
    } else {
        format!("{} {}", root.role, root.name)
    };
    let path: Vec<String> = further.chain(std::iter::once(end)).collect();
    let role = first.map_or("", |link| link.role.as_str());
    [format!("{role} {name}"), format!("{:.0} %", chain.share() * 100.0), path.join(" <- ")]
}

fn lines_of(finding: &Finding) -> String {
    let severity = finding.severity.name();
    let mut text = format!("{severity:<9} {} [{}]\n", single(&finding.sentence), finding.rule);
    let figures: Vec<String> = finding.evidence.iter().map(|one| single(&one.figure)).collect();
    if !figures.is_empty() {
        let _ = writeln!(text, "          because {}", figures.join("; "));
    }
    if let Some(change) = &finding.change {
        let gain = finding.bound.as_ref().map_or_else(String::new, gain);
        let _ = writeln!(text, "          change  {}{gain}", single(&change.sentence));
    }
    text
}

pub(super) fn gain(bound: &Bound) -> String {
    format!(" (at most {:.0} % more: {})", bound.throughput * 100.0, single(&bound.reason))
}

fn unread(parts: &[Unread], most: usize) -> String {
    let mut text = String::new();
    for part in parts.iter().take(most) {
        let (reason, remedy) = (single(&part.reason), single(&part.remedy));
        let remedy = if remedy.is_empty() { String::new() } else { format!(": {remedy}") };
        let _ = writeln!(text, "not read  {}: {reason}{remedy}", part.source.name());
    }
    text + &left_out(parts.len(), most, "source")
}

/// Joins names up to a line's length.
fn shortened(names: &[String]) -> String {
    const WIDTH: usize = 100;
    let mut line = String::new();
    for (index, name) in names.iter().enumerate() {
        if line.len() + name.len() > WIDTH {
            let more = names.len() - index;
            return format!("{line} and {more} more");
        }
        if index > 0 {
            line.push_str(", ");
        }
        line.push_str(&single(name));
    }
    line
}

/// Escapes a value that must stay on its line.
fn single(text: &str) -> String {
    escapes::value(text).into_owned()
}
