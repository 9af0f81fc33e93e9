//! The outcome of each requested file, and the sentences about it in a profile.

use std::{fs::File, path::PathBuf, time::Duration};

use rabbitscope_probe::MissingDebugFile;

use super::client::Refusal;

/// The source of a debug file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Server(String),
    Cache(PathBuf),
}

/// Reasons for a missing debug file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Absence {
    /// A server refused, or did not answer.
    Refused { server: String, refusal: Refusal },
    /// The file in the cache was refused.
    Cache(Refusal),
    /// According to the cache, no server had it recently.
    KnownMissing,
    /// Time was up.
    OutOfTime(Duration),
    /// The user stopped the program.
    Stopped,
    /// A server that failed before.
    NotAskedAgain { server: String },
}

/// The outcome of one file.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) wanted: MissingDebugFile,
    pub(super) found: Option<(File, Origin)>,
    /// Failures before the file was found, or all failures if it was not.
    pub(super) absences: Vec<Absence>,
}

/// The result of one debug file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) file: String,
    pub(super) origin: Origin,
    pub(super) functions: usize,
}

/// Returns the last part of a path.
pub(super) fn short(path: &str) -> &str {
    path.trim_end_matches(" (deleted)").rsplit('/').next().unwrap_or(path)
}

/// Returns a sentence for each source of files.
pub(super) fn successes(named: &[Named]) -> Vec<String> {
    let origins = in_order(named.iter().map(|one| one.origin.clone()));
    let sentence = |origin: Origin| {
        let all: Vec<&Named> = named.iter().filter(|one| one.origin == origin).collect();
        let files: Vec<&str> = all.iter().map(|one| one.file.as_str()).collect();
        let functions: usize = all.iter().map(|one| one.functions).sum();
        let from = match origin {
            Origin::Server(url) => url,
            Origin::Cache(path) => format!("the cache {}", path.display()),
        };
        let what = if all.len() == 1 { "the debug file" } else { "the debug files" };
        let have = if functions == 1 {
            "1 function has its name".to_owned()
        } else {
            format!("{functions} functions have their names")
        };
        format!("debuginfod: {have} from {what} of {} ({from})", files.join(", "))
    };
    origins.into_iter().map(sentence).collect()
}

/// Returns a sentence for each reason for a missing file.
pub(super) fn failures(outcomes: &[Outcome]) -> Vec<String> {
    let all = outcomes.iter().flat_map(|outcome| {
        outcome.absences.iter().map(|absence| (short(&outcome.wanted.path), absence))
    });
    let all: Vec<(&str, &Absence)> = all.collect();
    let reasons = in_order(all.iter().map(|(_, absence)| (*absence).clone()));
    let sentence = |reason: Absence| {
        let files: Vec<&str> =
            all.iter().filter(|(_, other)| **other == reason).map(|(file, _)| *file).collect();
        format!("debuginfod: {}", because(&reason, &files.join(", ")))
    };
    reasons.into_iter().map(sentence).collect()
}

fn because(reason: &Absence, files: &str) -> String {
    match reason {
        Absence::Refused { server, refusal } => {
            format!("asked for the debug file of {files}, {server} {refusal}")
        }
        Absence::Cache(refusal) => {
            format!("asked for the debug file of {files}, the cache {refusal}")
        }
        Absence::KnownMissing => {
            format!(
                "according to the cache, no server had a debug file of {files} at the last request"
            )
        }
        Absence::OutOfTime(total) => {
            format!(
                "the limit of {} s passed before a debug file of {files} arrived",
                total.as_secs()
            )
        }
        Absence::Stopped => format!("stopped before a debug file of {files} arrived"),
        Absence::NotAskedAgain { server } => {
            format!(
                "{server} was not asked for the debug file of {files}, because it failed before"
            )
        }
    }
}

/// Returns each value once, in the order of first appearance.
fn in_order<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::{Absence, MissingDebugFile, Named, Origin, Outcome, Refusal, failures, successes};

    #[test]
    fn files_of_one_server_share_a_sentence() {
        let named = |file: &str, functions| Named {
            file: file.to_owned(),
            origin: Origin::Server("http://a".to_owned()),
            functions,
        };
        let said = successes(&[named("libc.so.6", 3), named("beam.smp", 40)]);
        assert_eq!(
            said,
            [
                "debuginfod: 43 functions have their names from the debug files of libc.so.6, beam.smp (http://a)"
            ]
        );
        let one = successes(&[named("libm.so.6", 1)]);
        assert_eq!(
            one,
            ["debuginfod: 1 function has its name from the debug file of libm.so.6 (http://a)"]
        );
        assert!(successes(&[]).is_empty());
    }

    #[test]
    fn files_that_failed_alike_share_a_sentence() {
        let outcome = |path: &str, refusal| Outcome {
            wanted: MissingDebugFile { path: path.to_owned(), build_id: String::new(), samples: 1 },
            found: None,
            absences: vec![Absence::Refused { server: "http://a".to_owned(), refusal }],
        };
        let outcomes = [
            outcome("/lib/a.so", Refusal::Absent),
            outcome("/lib/b.so (deleted)", Refusal::OtherBuild),
            outcome("/lib/c.so", Refusal::Absent),
        ];
        let expected = [
            "debuginfod: asked for the debug file of a.so, c.so, http://a has none",
            "debuginfod: asked for the debug file of b.so, http://a sent the file of another build, which was \
             refused",
        ];
        assert_eq!(failures(&outcomes), expected);
    }
}
