//! The list of runs and experiments, and the part of it that a reader asks for.

use std::time::Duration;

use rabbitscope_runs::record::Verdict;
use rabbitscope_text::display_utc;
use serde::Serialize;

use super::{Contents, Entry};

/// The runs and experiments below a directory.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Listing {
    /// Runs and experiments, the newest first. Those without a time come last, by path.
    pub entries: Vec<Entry>,
    /// Directories that were not looked into: too many, too deep, or without permission.
    pub left_out: usize,
}

/// The end of a run or an experiment, as a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As the scenario asked, without doubts, within its limits.
    Completed,
    /// As the scenario asked, but its figures are in doubt.
    InDoubt,
    /// As the scenario asked, but limits of `[expect]` failed.
    LimitFailed,
    /// The broker did not do its part.
    Failed,
    /// Ended early by a limit.
    Stopped,
    /// Cut short.
    Aborted,
    /// An experiment.
    Experiment,
    /// Killed, or not ended.
    Unfinished,
    /// Without a readable record.
    Unreadable,
}

impl Outcome {
    /// All outcomes, in the order of a choice.
    pub const ALL: [Self; 9] = [
        Self::Completed,
        Self::InDoubt,
        Self::LimitFailed,
        Self::Failed,
        Self::Stopped,
        Self::Aborted,
        Self::Experiment,
        Self::Unfinished,
        Self::Unreadable,
    ];

    /// Returns the name in addresses and for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::InDoubt => "in doubt",
            Self::LimitFailed => "limit failed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Aborted => "aborted",
            Self::Experiment => "experiment",
            Self::Unfinished => "unfinished",
            Self::Unreadable => "unreadable",
        }
    }
}

impl Entry {
    /// Returns the start of a run, nanoseconds since 1970-01-01 UTC.
    pub fn started(&self) -> Option<u64> {
        match &self.contents {
            Contents::Run(run) => Some(run.started_unix_nanos),
            _ => None,
        }
    }

    /// Returns the name of the scenario or experiment; of the directory if the record has none.
    pub fn name(&self) -> &str {
        match &self.contents {
            Contents::Run(run) => &run.name,
            Contents::Experiment(experiment) => &experiment.name,
            _ => self.path.rsplit('/').next().unwrap_or_default(),
        }
    }

    /// Returns the version of the broker; empty if the record has none.
    pub fn broker(&self) -> &str {
        match &self.contents {
            Contents::Run(run) => &run.broker.version,
            _ => "",
        }
    }

    /// Returns the kind of the end.
    pub fn outcome(&self) -> Outcome {
        match &self.contents {
            Contents::Run(run) => match run.verdict {
                Verdict::Failed { .. } => Outcome::Failed,
                Verdict::Stopped { .. } => Outcome::Stopped,
                Verdict::Aborted { .. } => Outcome::Aborted,
                Verdict::Completed if !run.doubts.is_empty() => Outcome::InDoubt,
                Verdict::Completed if run.failed_limits() > 0 => Outcome::LimitFailed,
                Verdict::Completed => Outcome::Completed,
            },
            Contents::Experiment(_) => Outcome::Experiment,
            Contents::Unfinished => Outcome::Unfinished,
            Contents::Unreadable { .. } => Outcome::Unreadable,
        }
    }

    /// Describes the end in words.
    pub fn outcome_in_words(&self) -> String {
        match &self.contents {
            Contents::Run(run) => match (run.verdict.reason(), run.doubts.first()) {
                (Some(reason), _) => reason.to_owned(),
                (None, Some(doubt)) => format!("not valid: {}", doubt.reason),
                (None, None) if run.failed_limits() > 0 => {
                    format!("{} of {} limits failed", run.failed_limits(), run.expectations.len())
                }
                (None, None) => "completed".to_owned(),
            },
            Contents::Experiment(experiment) => experiment.sentences.join(" "),
            Contents::Unfinished => "killed, or not ended".to_owned(),
            Contents::Unreadable { reason } => format!("cannot be read: {reason}"),
        }
    }
}

/// The part of a list that a reader asks for. An empty text asks for everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// A part of name, time, broker, outcome or path, in any case.
    pub search: String,
    /// Name of the scenario or experiment.
    pub scenario: String,
    /// Version of the broker.
    pub broker: String,
    /// Name of the outcome.
    pub outcome: String,
}

impl Filter {
    /// Returns true if the entry belongs to the part.
    pub fn takes(&self, entry: &Entry) -> bool {
        let is = |asked: &str, own: &str| asked.is_empty() || asked == own;
        is(&self.scenario, entry.name())
            && is(&self.broker, entry.broker())
            && is(&self.outcome, entry.outcome().name())
            && (self.search.is_empty() || has(entry, &self.search.to_lowercase()))
    }
}

fn has(entry: &Entry, search: &str) -> bool {
    let started = entry.started().map(|nanos| display_utc(Duration::from_nanos(nanos)).to_string());
    let words = entry.outcome_in_words();
    let texts = [
        entry.name(),
        entry.broker(),
        &entry.path,
        &words,
        entry.outcome().name(),
        started.as_deref().unwrap_or_default(),
    ];
    texts.iter().any(|text| text.to_lowercase().contains(search))
}
