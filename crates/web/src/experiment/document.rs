//! The page: its parts in order.

use std::io::{self, Write};

use rabbitscope_runs::experiment::{ExperimentResult, Verdict};

use super::{intervals, latencies, profiles, sweep, tables, timeline};
use crate::escape::Markup;

const STYLE: &str = include_str!("style.css");

/// Writes the page of an experiment or a sweep.
pub fn write_experiment(mut out: impl Write, result: &ExperimentResult) -> io::Result<()> {
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{name}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n",
        name = Markup(&result.name),
    )?;
    if !result.description.is_empty() {
        writeln!(out, "<p class=\"soft\">{}</p>", Markup(&result.description))?;
    }
    verdicts(&mut out, result)?;
    if result.axes.is_empty() {
        intervals::draw(&mut out, result)?;
    } else {
        sweep::draw(&mut out, result)?;
    }
    timeline::draw(&mut out, result)?;
    tables::comparisons(&mut out, result)?;
    profiles::draw(&mut out, result)?;
    latencies::draw(&mut out, result)?;
    tables::dropped(&mut out, result)?;
    tables::method(&mut out, result)?;
    write!(out, "</body>\n</html>\n")?;
    out.flush()
}

/// Writes the sentences, with differences emphasised. In a sweep, the curves say more than the one sentence.
fn verdicts(out: &mut impl Write, result: &ExperimentResult) -> io::Result<()> {
    if let Some(reason) = &result.aborted {
        writeln!(out, "<p class=\"verdict aborted\">Not complete: {}</p>", Markup(reason))?;
    }
    if result.axes.is_empty() {
        for sentence in &result.sentences {
            let of = result.comparisons.iter().find(|comparison| comparison.sentence == *sentence);
            let class = match of.map(|comparison| comparison.verdict) {
                Some(Verdict::Differs) => "differs",
                Some(Verdict::Equivalent) => "equivalent",
                _ => "undecided",
            };
            writeln!(out, "<p class=\"verdict {class}\">{}</p>", Markup(sentence))?;
        }
    } else {
        result
            .sentences
            .iter()
            .try_for_each(|sentence| writeln!(out, "<p>{}</p>", Markup(sentence)))?;
    }
    if let Some(known) = &result.known {
        let class = match known.met {
            Some(true) => "met",
            Some(false) => "missed",
            None => "undecided",
        };
        writeln!(
            out,
            "<p class=\"verdict {class}\">{} <span class=\"soft\">Source: {}.</span></p>",
            Markup(&known.sentence),
            Markup(&known.source)
        )?;
    }
    Ok(())
}
