//! The files of a report's findings.

use rabbitscope_text::escapes;

use super::{
    focus::Focus,
    observed::observed,
    table::proof_of,
    text::{experiment, scenario},
};
use crate::{case::Case, finding::Finding, report::CheckReport};

/// Limit of a description, in characters.
const MAX_DESCRIPTION: usize = 600;

/// An experiment and its scenario, as two files of one directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExperimentFile {
    /// Stable name of the finding's rule.
    pub rule: String,
    /// File name of the experiment: up to 70 lower-case letters, digits and `-`, then `.toml`.
    pub name: String,
    /// Contents of the experiment.
    pub experiment: String,
    /// File name of the scenario that the experiment starts from.
    pub scenario_name: String,
    /// Contents of the scenario.
    pub scenario: String,
}

/// Returns an experiment for each finding that a throwaway broker can show, in the order of the findings. Each of these
/// findings gets the file name.
pub fn experiments(case: &Case, report: &mut CheckReport) -> Vec<ExperimentFile> {
    let mut files: Vec<ExperimentFile> = Vec::new();
    for finding in &mut report.findings {
        let mut load = observed(case, &Focus::new(case, finding));
        let Some(proof) = proof_of(finding).and_then(|build| build(&mut load, case, finding))
        else {
            continue;
        };
        let stem = free_stem(&finding.rule, &files);
        let (name, scenario_name) = (format!("{stem}.toml"), format!("{stem}-load.toml"));
        files.push(ExperimentFile {
            rule: finding.rule.clone(),
            experiment: experiment(&stem, &description(finding), &scenario_name, &proof),
            scenario: scenario(&stem, &load),
            name: name.clone(),
            scenario_name,
        });
        finding.experiment = Some(name);
    }
    files
}

/// Returns the rule's name as a file name. A further finding of the rule gets a number.
fn free_stem(rule: &str, files: &[ExperimentFile]) -> String {
    const MAX_LETTERS: usize = 60;
    let plain = |letter: char| match letter.to_ascii_lowercase() {
        letter if letter.is_ascii_alphanumeric() => letter,
        _ => '-',
    };
    let stem: String = rule.chars().take(MAX_LETTERS).map(plain).collect();
    let stem = if stem.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        stem
    } else {
        format!("finding{stem}")
    };
    let numbered = |number: usize| match number {
        1 => stem.clone(),
        number => format!("{stem}-{number}"),
    };
    let is_free = |stem: &String| {
        let (name, scenario) = (format!("{stem}.toml"), format!("{stem}-load.toml"));
        let names = files.iter().flat_map(|file| [&file.name, &file.scenario_name]);
        names.into_iter().all(|used| *used != name && *used != scenario)
    };
    // Each file makes at most four of them unfit.
    let mut stems = (1..=4 * files.len() + 1).map(numbered);
    stems.find(is_free).expect("there are more numbers than unfit ones")
}

/// Describes the finding, its change and the bound.
fn description(finding: &Finding) -> String {
    let change = finding
        .change
        .as_ref()
        .map_or_else(String::new, |change| format!(" Change: {}.", change.sentence));
    let bound = finding.bound.as_ref().map_or_else(String::new, |bound| {
        let percent = bound.throughput * 100.0;
        format!(" The check expects at most {percent:.0} % more messages: {}.", bound.reason)
    });
    let text = format!("{}.{change}{bound}", finding.sentence);
    escapes::value(&text).chars().take(MAX_DESCRIPTION).collect()
}
