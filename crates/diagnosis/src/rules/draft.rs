//! A finding in the making: its severity, subjects, words, evidence, advice and bound.

use crate::finding::{Bound, Change, Evidence, Finding, Severity};

/// Most subjects that a finding names.
const MAX_SUBJECTS: usize = 10;

/// A finding without the name of its rule.
#[derive(Debug)]
pub(crate) struct Draft {
    severity: Severity,
    subjects: Vec<String>,
    sentence: String,
    evidence: Vec<Evidence>,
    advice: Option<Advice>,
    bound: Option<Bound>,
}

/// A change and its direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Advice {
    pub(crate) change: Change,
    pub(crate) aim: Aim,
}

/// The direction of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// A higher value.
    Raise,
    /// A lower value.
    Lower,
    /// One value or habit, wherever the setting stands now.
    Settle,
}

impl Aim {
    /// Returns whether both directions exclude each other.
    pub(crate) const fn opposes(self, other: Self) -> bool {
        matches!((self, other), (Self::Raise, Self::Lower) | (Self::Lower, Self::Raise))
    }
}

impl Advice {
    /// Creates the advice to change a setting in a direction, at a cost.
    pub(crate) fn new(aim: Aim, setting: &str, sentence: impl Into<String>, cost: &str) -> Self {
        let change = Change {
            setting: setting.to_owned(),
            sentence: sentence.into(),
            text: None,
            cost: cost.to_owned(),
        };
        Self { change, aim }
    }

    /// Adds the text for a file or a shell.
    pub(crate) fn with_text(mut self, text: impl Into<String>) -> Self {
        self.change.text = Some(text.into());
        self
    }
}

impl Draft {
    /// Creates a draft about subjects, the worst first.
    pub(crate) fn new(
        severity: Severity,
        subjects: Vec<String>,
        sentence: impl Into<String>,
    ) -> Self {
        let sentence = sentence.into();
        Self { severity, subjects, sentence, evidence: Vec::new(), advice: None, bound: None }
    }

    /// Adds a figure.
    pub(crate) fn evidence(mut self, evidence: Evidence) -> Self {
        self.evidence.push(evidence);
        self
    }

    /// Adds figures.
    pub(crate) fn all_evidence(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    /// Sets the advice.
    pub(crate) fn advice(mut self, advice: Advice) -> Self {
        self.advice = Some(advice);
        self
    }

    /// Sets the bound, if there is one.
    pub(crate) fn bound(mut self, bound: Option<Bound>) -> Self {
        self.bound = bound;
        self
    }

    /// Returns the finding of a rule, with the direction of its change.
    pub(crate) fn into_finding(self, rule: &str) -> (Finding, Option<Aim>) {
        let subjects_in_all = self.subjects.len() as u64;
        let mut subjects = self.subjects;
        subjects.truncate(MAX_SUBJECTS);
        let aim = self.advice.as_ref().map(|advice| advice.aim);
        let finding = Finding {
            rule: rule.to_owned(),
            severity: self.severity,
            subjects,
            subjects_in_all,
            sentence: self.sentence,
            evidence: self.evidence,
            change: self.advice.map(|advice| advice.change),
            bound: self.bound,
            experiment: None,
        };
        (finding, aim)
    }
}
