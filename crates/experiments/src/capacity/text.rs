//! Plain text of a search: a line per step, the curve and a sentence.

use std::fmt::Write;

use rabbitscope_analysis::capacity::CLEAR_STEP;
use rabbitscope_runs::capacity::{
    Capacity, CapacityOutcome, CapacityStep, RateSpread, StepVerdict,
};

use rabbitscope_text::escapes;

use rabbitscope_text::{grouped_rate, short_time};

/// Length of the longest bar in characters.
const BAR: f64 = 30.0;

/// Returns the steps in the order of their rates, with the curve and the result.
pub fn text(capacity: &Capacity) -> String {
    let mut steps: Vec<&CapacityStep> = capacity.steps.iter().collect();
    steps.sort_by(|one, other| one.offered.total_cmp(&other.offered));
    let mut text = format!("{}: {}\n", capacity.name, capacity.broker);
    let _ = writeln!(text, "limits: {}\n", capacity.limits.join(", "));
    let _ = writeln!(
        text,
        "{:>11} {:>11} {:>9} {:>9} {:>9}  {:<14}  p99, log scale",
        "offered/s", "achieved/s", "p50", "p99", "p99.9", "verdict"
    );
    let span = span(&steps);
    for step in steps {
        let [p50, p99, p999] = [step.p50, step.p99, step.p999].map(time);
        let _ = writeln!(
            text,
            "{:>11} {:>11} {p50:>9} {p99:>9} {p999:>9}  {:<14}  {}",
            grouped_rate(step.offered),
            grouped_rate(step.achieved),
            word(step.verdict),
            bar(step.p99, span)
        );
        for reason in &step.reasons {
            let _ = writeln!(text, "{:>56}{}", "", escapes::value(reason));
        }
    }
    text + "\n" + &capacity.sentence + "\n"
}

/// Describes a finished step in one line.
pub(super) fn step(step: &CapacityStep) -> String {
    format!(
        "{} messages/s: {}{}",
        grouped_rate(step.offered),
        word(step.verdict),
        step.reasons.first().map_or(String::new(), |reason| format!(" ({reason})"))
    )
}

pub(super) fn sentence(capacity: &Capacity) -> String {
    outcome(capacity) + &between(capacity) + &repeated(capacity) + &lengthened(capacity)
}

/// States the backlog that a pass allows, and the number of steps that were too short.
fn lengthened(capacity: &Capacity) -> String {
    let is_known = matches!(capacity.outcome, CapacityOutcome::Found | CapacityOutcome::Unsettled);
    if !is_known || capacity.spread.is_none() {
        return String::new();
    }
    let short = capacity.steps.iter().filter(|step| step.verdict == StepVerdict::TooShort).count();
    let repeated = match short {
        0 => String::new(),
        count => format!(
            " {count} of {} steps were too short for a result and were repeated for {} s.",
            capacity.steps.len(),
            CLEAR_STEP.as_secs()
        ),
    };
    format!(
        "{repeated} In a passed step, the backlog grows by at most 1 %; the lower end is reduced by this."
    )
}

/// Describes the agreement of the searches that took turns.
fn between(capacity: &Capacity) -> String {
    let searches = &capacity.searches;
    let found = searches.iter().filter(|search| search.outcome == CapacityOutcome::Found);
    let rates: Vec<f64> = found.filter_map(|search| search.rate).collect();
    let low = rates.iter().copied().reduce(f64::min);
    let Some((low, high)) = low.zip(rates.iter().copied().reduce(f64::max)) else {
        return String::new();
    };
    format!(
        " {} of {} searches in turns found it, between {} and {} ({:.1} %); this is their median.",
        rates.len(),
        searches.len(),
        grouped_rate(low),
        grouped_rate(high),
        100.0 * (high / low - 1.0),
    )
}

fn outcome(capacity: &Capacity) -> String {
    let limits = capacity.limits.join(" and ");
    let rate = grouped_rate(capacity.rate.unwrap_or_default());
    match capacity.outcome {
        CapacityOutcome::Found => format!(
            "The limit is at {rate} messages/s with {limits}: {}.",
            capacity.spread.as_ref().map_or_else(String::new, spread)
        ),
        CapacityOutcome::Unlimited => format!(
            "The broker sustains {rate} messages/s with {limits}, the highest rate of the search."
        ),
        CapacityOutcome::Nothing => {
            let lowest = capacity.steps.iter().map(|step| step.offered).reduce(f64::min);
            let lowest = grouped_rate(lowest.unwrap_or_default());
            format!("Already {lowest} messages/s, the lowest rate of the search, are too much.")
        }
        CapacityOutcome::ClientLimited if capacity.rate.is_some() => format!(
            "The broker sustains {rate} messages/s with {limits}. Above this rate, the load generator was the \
             bottleneck, so higher rates are unknown."
        ),
        CapacityOutcome::ClientLimited => {
            "The load generator was the bottleneck at every rate, so there is no result.".to_owned()
        }
        CapacityOutcome::Unsettled => {
            let near = capacity.spread.as_ref().map(|range| format!(" ({})", spread(range)));
            format!(
                "The limit moves: {} steps did not settle it{}.",
                capacity.steps.len(),
                near.unwrap_or_default()
            )
        }
        CapacityOutcome::Aborted => "Cut short: the search did not finish.".to_owned(),
    }
}

/// Describes the precision of the limit.
fn spread(spread: &RateSpread) -> String {
    format!(
        "crossed {} times, between {} and {} ({:.1} %)",
        spread.crossings,
        grouped_rate(spread.low),
        grouped_rate(spread.high),
        100.0 * spread.share
    )
}

/// Counts the invalid steps that were repeated.
fn repeated(capacity: &Capacity) -> String {
    let steps = capacity.steps.len();
    match capacity.not_valid {
        0 => String::new(),
        1 => format!(" 1 of {steps} steps was not valid and was repeated."),
        count => format!(" {count} of {steps} steps were not valid and were repeated."),
    }
}

fn word(verdict: StepVerdict) -> &'static str {
    match verdict {
        StepVerdict::Passed => "passed",
        StepVerdict::Failed => "failed",
        StepVerdict::ClientLimited => "client-limited",
        StepVerdict::Stalled => "stalled",
        StepVerdict::Disturbed => "disturbed",
        StepVerdict::TooShort => "too short",
        StepVerdict::CutShort => "cut short",
    }
}

fn time(nanos: Option<u64>) -> String {
    nanos.map_or("–".to_owned(), short_time)
}

/// Returns the logarithms of the shortest and the longest latency.
fn span(steps: &[&CapacityStep]) -> (f64, f64) {
    let values =
        || steps.iter().filter_map(|step| step.p99).map(|nanos| (nanos.max(1) as f64).ln());
    (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to BAR")]
fn bar(nanos: Option<u64>, (low, high): (f64, f64)) -> String {
    let Some(nanos) = nanos else { return String::new() };
    let share = ((nanos.max(1) as f64).ln() - low) / (high - low).max(1e-9);
    "█".repeat(1 + (share.clamp(0.0, 1.0) * (BAR - 1.0)).round() as usize)
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::capacity::SearchResult;

    use super::*;

    #[test]
    fn searches_that_took_turns_are_counted() {
        let search = |outcome, rate| SearchResult { outcome, rate: Some(rate) };
        let capacity = Capacity {
            limits: vec!["confirm-intended.p99 < 20ms".to_owned()],
            outcome: CapacityOutcome::Unsettled,
            searches: vec![
                search(CapacityOutcome::Found, 1000.0),
                search(CapacityOutcome::Unsettled, 5000.0),
                search(CapacityOutcome::Found, 1050.0),
            ],
            ..Capacity::default()
        };
        let expected = "2 of 3 searches in turns found it, between 1,000 and 1,050 (5.0 %); \
                        this is their median.";
        assert!(sentence(&capacity).ends_with(expected), "{}", sentence(&capacity));
    }

    #[test]
    fn steps_are_listed_in_the_order_of_their_rates() {
        let step = |offered, p99, verdict| CapacityStep {
            offered,
            p99: Some(p99),
            verdict,
            ..CapacityStep::default()
        };
        let mut capacity = Capacity {
            limits: vec!["confirm-intended.p99 < 20ms".to_owned()],
            steps: vec![
                step(4000.0, 90_000_000, StepVerdict::Failed),
                step(2000.0, 2_000_000, StepVerdict::Passed),
            ],
            outcome: CapacityOutcome::Found,
            rate: Some(2828.0),
            spread: Some(RateSpread { low: 2700.0, high: 2970.0, crossings: 7, share: 0.0955 }),
            not_valid: 2,
            ..Capacity::default()
        };
        capacity.sentence = sentence(&capacity);
        let text = text(&capacity);
        assert!(text.find("2,000 ") < text.find("4,000 "), "{text}");
        assert!(text.contains(&"█".repeat(30)) && text.contains("  █\n"), "{text}");
        let sentence = "The limit is at 2,828 messages/s with confirm-intended.p99 < 20ms: crossed 7 times, \
                        between 2,700 and 2,970 (9.6 %). 2 of 2 steps were not valid and were repeated. \
                        In a passed step, the backlog grows by at most 1 %; the lower end is reduced by this.\n";
        assert!(text.ends_with(sentence), "{text}");
    }
}
