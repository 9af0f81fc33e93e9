//! The result of a check as text, at most forty lines: the limit first.

use std::fmt::{self, Write as _};

use rabbitscope_text::{Align, counted, escapes, table};

use super::{CheckReport, amqp_text::amqp};
use crate::{
    case::Unread,
    differences::Differences,
    finding::{Bound, Finding},
    flow::{FlowChain, FlowRoot},
    limit::{Candidate, Certainty, Limit, LimitKind},
};

/// Chains of flow control that the text shows.
const CHAINS: usize = 4;

/// Findings that the text shows in full.
const FINDINGS: usize = 5;

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl CheckReport {
    fn text(&self) -> String {
        let mut text = format!("limit     {}\n", sentence(&self.limit));
        for evidence in &self.limit.evidence {
            let _ = writeln!(text, "          {}", evidence.figure);
        }
        if let Some(second) = &self.limit.runner_up {
            let _ = writeln!(text, "next      {}", runner_up(second));
        }
        text += &flow(&self.flow);
        text += &self.amqp.as_ref().map_or_else(String::new, amqp);
        text += &self.findings();
        text += &self.differing();
        text += &self.healthy();
        text += &unread(&self.unread);
        let seconds = self.duration_nanos as f64 / 1e9;
        let version = match self.rabbitmq.as_str() {
            "" => String::new(),
            version => format!(", RabbitMQ {version}"),
        };
        let _ = write!(text, "checked   {}{version}, for {seconds:.0} s", self.node);
        escapes::text(&text).into_owned()
    }

    fn findings(&self) -> String {
        let mut text = String::new();
        for finding in self.findings.iter().take(FINDINGS) {
            text += &lines_of(finding);
        }
        let more = self.findings.len().saturating_sub(FINDINGS);
        if more > 0 {
            let _ = writeln!(text, "          {more} more findings are in the JSON (--json)");
        }
        text
    }

    fn differing(&self) -> String {
        let lines = self.differences.iter().flat_map(Differences::lines);
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

fn flow(roots: &[FlowRoot]) -> String {
    let chains = roots.iter().flat_map(|root| root.chains.iter().map(move |chain| (root, chain)));
    let count = chains.clone().count();
    if count == 0 {
        return String::new();
    }
    let rows: Vec<[String; 3]> =
        chains.take(CHAINS).map(|(root, chain)| chain_row(root, chain)).collect();
    let columns = [("in flow", Align::Left), ("blocked", Align::Right), ("waits for", Align::Left)];
    let more = match count.saturating_sub(CHAINS) {
        0 => String::new(),
        more => format!("\n          {} more", counted(more as u64, "chain")),
    };
    let table = table(columns, &rows);
    let lines: Vec<String> = table.lines().map(|line| format!("          {line}")).collect();
    format!("flow\n{}{more}\n", lines.join("\n"))
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

fn unread(parts: &[Unread]) -> String {
    let mut text = String::new();
    for part in parts {
        let (reason, remedy) = (single(&part.reason), single(&part.remedy));
        let remedy = if remedy.is_empty() { String::new() } else { format!(": {remedy}") };
        let _ = writeln!(text, "not read  {}: {reason}{remedy}", part.source.name());
    }
    text
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
