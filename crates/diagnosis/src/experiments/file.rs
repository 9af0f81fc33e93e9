//! The files of a report's findings.

use rabbitscope_text::escapes;

use super::{
    base::BaseScenario,
    focus::Focus,
    observed::observed,
    placed::placed,
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
/// findings gets the file name. `base` is the observed load, or the reason why there is none.
pub fn experiments(
    case: &Case,
    report: &mut CheckReport,
    base: Result<&BaseScenario, &str>,
) -> Vec<ExperimentFile> {
    let mut files: Vec<ExperimentFile> = Vec::new();
    for finding in &mut report.findings {
        let stem = free_stem(&finding.rule, &files);
        if let Some(file) = file(&stem, (case, finding), base) {
            finding.experiment = Some(file.name.clone());
            files.push(file);
        }
    }
    files
}

/// Returns the experiment of a finding: on the observed load, if its groups have what the finding is about, else on a
/// smaller one.
fn file(
    stem: &str,
    (case, finding): (&Case, &Finding),
    base: Result<&BaseScenario, &str>,
) -> Option<ExperimentFile> {
    let focus = Focus::new(case, finding);
    let mut load = observed(case, &focus);
    let proof = proof_of(finding)?(&mut load, case, finding)?;
    let on_base = base.map_err(str::to_owned).and_then(|base| {
        let proof = placed(&proof, &load, &focus, base)?;
        Ok((proof, base.text().to_owned()))
    });
    let (proof, scenario_name, origin, scenario) = match on_base {
        Ok((proof, text)) => {
            let origin = "the observed one, as `rabbitscope workload` writes it".to_owned();
            (proof, BaseScenario::FILE_NAME.to_owned(), origin, text)
        }
        Err(reason) => {
            let origin =
                format!("smaller than the observed one, and like it in some numbers: {reason}");
            load.remarks.push(format!("It is not the observed load itself: {reason}."));
            (proof, format!("{stem}-load.toml"), origin, scenario(stem, &load))
        }
    };
    let text = experiment(stem, &description(finding), (&scenario_name, &origin), &proof);
    Some(ExperimentFile {
        rule: finding.rule.clone(),
        name: format!("{stem}.toml"),
        experiment: text,
        scenario_name,
        scenario,
    })
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
        let names = files.iter().flat_map(|file| [&*file.name, &*file.scenario_name]);
        let mut names = names.chain([BaseScenario::FILE_NAME]);
        names.all(|used| used != name && used != scenario)
    };
    // Each file makes at most four of them unfit, the observed load two.
    let mut stems = (1..=4 * files.len() + 3).map(numbered);
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
