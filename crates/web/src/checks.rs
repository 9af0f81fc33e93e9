//! The validity of the figures: the load generator's check of itself, the steadiness, and the fate of the messages.

use rabbitscope_analysis::service_sentences;
use rabbitscope_runs::record::{ClientCheck, ErrorCount, FleetFacts, RunRecord, Verification};
use rabbitscope_text::short_time;
use serde::Serialize;

/// A sentence, and whether it casts doubt on the figures.
#[derive(Serialize)]
pub(crate) struct Check {
    sentence: String,
    doubtful: bool,
}

/// Returns the sentences that this run has.
pub(crate) fn checks(run: &RunRecord) -> Vec<Check> {
    let doubts =
        run.doubts.iter().map(|doubt| Check { sentence: sentence(&doubt.reason), doubtful: true });
    let service = service_sentences(run)
        .into_iter()
        .map(|reason| Check { sentence: sentence(&reason), doubtful: true });
    let errors =
        run.errors.iter().map(|error| Check { sentence: error_sentence(error), doubtful: true });
    let client = client_sentence(&run.client).map(|sentence| Check { sentence, doubtful: false });
    let steady = run.steadiness.as_ref().filter(|steadiness| !steadiness.sentence.is_empty());
    let steady = steady.map(|steadiness| Check {
        sentence: sentence(&steadiness.sentence),
        doubtful: !steadiness.steady,
    });
    let verified = run
        .verification
        .as_ref()
        .map(|found| Check { sentence: sentence(&found.sentence), doubtful: has_faults(found) });
    let fleet =
        run.fleet.as_ref().map(|facts| Check { sentence: fleet_sentence(facts), doubtful: false });
    let no_node = run.no_node_figures.as_ref().map(|reason| Check {
        sentence: sentence(&format!("no second has figures from inside the node: {reason}")),
        doubtful: false,
    });
    let about_load = fleet.into_iter().chain(client).chain(steady).chain(no_node);
    doubts.chain(service).chain(errors).chain(verified).chain(about_load).collect()
}

/// Returns whether messages were lost, duplicated or out of order, or whether that is unknown.
fn has_faults(found: &Verification) -> bool {
    found.lost + found.duplicates + found.out_of_order + found.not_judged > 0 || found.accepted == 0
}

fn error_sentence(error: &ErrorCount) -> String {
    let times = if error.count == 1 { "once".to_owned() } else { format!("{} times", error.count) };
    let kind = capitalised(error.kind.words());
    format!("{kind} {times}, last at {:.1} s: {}", error.last_at_nanos as f64 / 1e9, error.last)
}

/// Returns the text with a capital letter at its start.
pub(crate) fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}

/// Turns a line of the terminal into a sentence.
pub(crate) fn sentence(text: &str) -> String {
    let end = if text.is_empty() || text.ends_with(['.', '?', '!']) { "" } else { "." };
    capitalised(text) + end
}

/// States the number of workers of the load, and the accuracy of latencies between them.
fn fleet_sentence(fleet: &FleetFacts) -> String {
    let clocks = match fleet.latency_error_nanos {
        0 => "all have one clock".to_owned(),
        error => format!("latencies between them are accurate within {}", short_time(error)),
    };
    let (workers, skew) = (fleet.workers.len(), short_time(fleet.start_skew_nanos));
    format!("{workers} workers produced the load and started within {skew}; {clocks}.")
}

fn client_sentence(client: &ClientCheck) -> Option<String> {
    if client.thread_seconds == 0 {
        return None;
    }
    let saturated = match client.saturated_thread_seconds {
        0 => "never saturated".to_owned(),
        count => {
            format!("saturated in {count} of {} thread-seconds", client.thread_seconds)
        }
    };
    Some(format!(
        "The load generator's busiest thread used {:.0} % of a CPU and was {saturated}.",
        100.0 * client.busiest_share
    ))
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::{Doubt, DoubtKind, Steadiness};

    use super::*;

    #[test]
    fn doubts_come_first() {
        let run = RunRecord {
            client: ClientCheck {
                thread_seconds: 20,
                saturated_thread_seconds: 3,
                busiest_share: 0.974,
                ..ClientCheck::default()
            },
            doubts: vec![Doubt { kind: DoubtKind::ClientLimited, reason: "no time".to_owned() }],
            steadiness: Some(Steadiness {
                steady: true,
                sentence: "Steady.".into(),
                ..Steadiness::default()
            }),
            verification: Some(Verification {
                accepted: 2,
                duplicates: 1,
                sentence: "One of two.".into(),
                ..Verification::default()
            }),
            ..RunRecord::default()
        };
        let checks = checks(&run);
        let sentences: Vec<_> =
            checks.iter().map(|check| (check.sentence.as_str(), check.doubtful)).collect();
        let client = "The load generator's busiest thread used 97 % of a CPU and was saturated in 3 of \
                      20 thread-seconds.";
        assert_eq!(
            sentences,
            [("No time.", true), ("One of two.", true), (client, false), ("Steady.", false)]
        );
        assert!(super::checks(&RunRecord::default()).is_empty());
    }
}
