//! Findings, worst first, and rules without findings.

use rabbitscope_text::counted;
use rabbitscope_wire::{
    findings::not_found,
    report::{FindingRule, PacketReport},
};

use crate::document::{Block, Content, FindingData, Sentence, Tone};

/// Returns the findings in the order of the report.
pub(super) fn blocks(report: &PacketReport) -> Vec<Block> {
    let is_read = report.totals.segments > 0 || !report.sockets.is_empty();
    let nothing = match (&report.findings[..], is_read) {
        ([], true) => Some(Sentence::new("Nothing found.", Tone::Good)),
        ([], false) => {
            let sentence = "Nothing could be judged: no TCP segment of the broker was read.";
            Some(Sentence::new(sentence, Tone::Undecided))
        }
        _ => None,
    };
    let judged: Vec<&str> = not_found(report).map(FindingRule::title).collect();
    let judged = (!judged.is_empty()).then(|| {
        Sentence::new(format!("Judged and not found: {}.", judged.join(", ")), Tone::Soft)
    });
    let findings = report.findings.iter().map(FindingData::with_places).collect();
    let found = Block::new("found", Content::Findings { findings });
    let said: Vec<Sentence> = nothing.into_iter().chain(judged).collect();
    let said = (!said.is_empty()).then(|| Block::sentences("judged", said));
    let found = (!report.findings.is_empty()).then_some(found);
    found.into_iter().chain(said).chain(not_judged(report)).collect()
}

/// Lists the rules that could not be judged, each with its reason; absent if there are none.
fn not_judged(report: &PacketReport) -> Option<Block> {
    let rules = report.not_judged.as_deref().filter(|rules| !rules.is_empty())?;
    let sentence = |judgement: &rabbitscope_wire::report::NotJudged| {
        let text = format!("{}: {}", judgement.rule.title(), judgement.reason);
        Sentence::new(text, Tone::Soft)
    };
    let sentences = rules.iter().map(sentence).collect();
    let summary = format!("Not judged: {}", counted(rules.len() as u64, "rule"));
    let blocks = vec![Block::sentences("not-judged-rules", sentences)];
    Some(Block::new("not-judged", Content::Details { summary, blocks }))
}
