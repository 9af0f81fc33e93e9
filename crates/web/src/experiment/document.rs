//! The page: its sections in order.

use std::io::{self, Write};

use rabbitscope_runs::experiment::{ExperimentResult, Verdict};

use super::{intervals, profiles, sweep, tables, timeline};
use crate::{
    document::{Block, Document, Hue, Section, Sentence, Tone},
    report::write_document,
    spectrum::{by_percentile, line},
};

/// Writes the page of an experiment or a sweep.
pub fn write_experiment(out: impl Write, result: &ExperimentResult) -> io::Result<()> {
    write_document(out, &document(result))
}

pub(super) fn document(result: &ExperimentResult) -> Document {
    let mut sections = vec![
        Section::new("result", "", vec![Block::sentences("verdicts", verdicts(result))])
            .explained(result.description.clone()),
    ];
    if result.axes.is_empty() {
        sections.extend(intervals::section(result));
    } else {
        sections.extend((0..result.metrics.len()).map(|metric| sweep::section(result, metric)));
    }
    sections.extend(timeline::section(result));
    sections.push(tables::comparisons(result));
    sections.extend(profiles::section(result));
    sections.extend(latencies(result));
    sections.extend(tables::dropped(result));
    sections.push(tables::method(result));
    Document { title: result.name.clone(), facts: Vec::new(), sections }
}

/// Returns the sentences, with differences emphasised. In a sweep, the curves say more than the one sentence.
fn verdicts(result: &ExperimentResult) -> Vec<Sentence> {
    let aborted = result.aborted.iter();
    let aborted = aborted.map(|reason| Sentence::new(format!("Not complete: {reason}"), Tone::Bad));
    let sentences = result.sentences.iter().map(|sentence| {
        let of = result.comparisons.iter().find(|comparison| comparison.sentence == *sentence);
        let tone = match of.map(|comparison| comparison.verdict) {
            _ if !result.axes.is_empty() => Tone::Plain,
            Some(Verdict::Differs) => Tone::Note,
            Some(Verdict::Equivalent) => Tone::Good,
            // A border without a colour.
            _ => Tone::Undecided,
        };
        Sentence::new(sentence, tone)
    });
    let known = result.known.iter().map(|known| {
        let tone = match known.met {
            Some(true) => Tone::Good,
            Some(false) => Tone::Bad,
            None => Tone::Undecided,
        };
        Sentence::new(format!("{} Source: {}.", known.sentence, known.source), tone)
    });
    aborted.chain(sentences).chain(known).collect()
}

/// Returns the latencies of the arms by percentile; absent if there are more arms than colours.
fn latencies(result: &ExperimentResult) -> Option<Section> {
    if result.latencies.is_empty() || result.arms.len() > Hue::SERIES {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for latency in &result.latencies {
        if !names.contains(&latency.name.as_str()) {
            names.push(&latency.name);
        }
    }
    let block = |(at, name): (usize, &&str)| {
        let arms = result.latencies.iter().filter(|latency| latency.name == **name);
        let lines = arms.map(|latency| {
            line(&result.arms[latency.arm].name, Hue::series(latency.arm), &latency.spectrum)
        });
        Some(Block::chart(format!("latency-{at}"), by_percentile(name, lines.collect())?))
    };
    let blocks = names.iter().enumerate().filter_map(block).collect();
    let intro = "A point is the median over the rounds that count. A line ends at the highest percentile that every \
                 such round has enough messages for.";
    Some(Section::new("latencies", "Latencies of the arms", blocks).explained(intro))
}
