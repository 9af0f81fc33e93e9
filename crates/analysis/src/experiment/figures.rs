//! Figures of single arms, for people.

use rabbitscope_runs::experiment::{Comparison, ExperimentResult};
use rabbitscope_text::{grouped_rate, human_bytes, short_time};

/// The median of an arm's values over the rounds of a comparison.
pub fn median_of_arm(
    result: &ExperimentResult,
    comparison: &Comparison,
    arm: usize,
) -> Option<f64> {
    let is_counted = |round: u32| comparison.differences.iter().any(|it| it.round == round);
    let runs = result.runs.iter().filter(|run| run.arm == arm && is_counted(run.round));
    let mut values: Vec<f64> = runs.filter_map(|run| *run.values.get(comparison.metric)?).collect();
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(f64::midpoint(values[last / 2], values[last.div_ceil(2)]))
}

/// A value of a metric in the unit of `experiment.json`, short.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive, for display"
)]
pub fn value_in_words(value: f64, unit: &str) -> String {
    match unit {
        "messages/s" | "items/s" => format!("{}/s", grouped_rate(value)),
        "bytes/s" => format!("{}/s", human_bytes(value.round() as u64)),
        "nanoseconds" => short_time(value.round() as u64),
        "bytes" => human_bytes(value.round() as u64),
        _ => format!("{value:.3}"),
    }
}

/// A ratio as a change: `+4.1 %`, or `×3.52` where a share would be hard to read.
pub fn change(ratio: f64) -> String {
    let percent = 100.0 * (ratio - 1.0);
    if percent.abs() < 0.05 {
        "0.0 %".to_owned()
    } else if (0.5..2.0).contains(&ratio) {
        format!("{percent:+.1} %")
    } else {
        times(ratio)
    }
}

/// `×3.52`, `×0.021`: two digits that count at least.
fn times(ratio: f64) -> String {
    match ratio {
        0.1.. => format!("×{ratio:.2}"),
        0.01.. => format!("×{ratio:.3}"),
        _ => format!("×{ratio:.4}"),
    }
}

/// A share in percent, with one digit behind the point where there is one: `95 %`, `97.6 %`.
pub fn percent(share: f64) -> String {
    let percent = format!("{:.1}", 100.0 * share);
    format!("{} %", percent.strip_suffix(".0").unwrap_or(&percent))
}

/// A p-value: `0.031`, `<0.001`.
pub fn p_in_words(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_people() {
        assert_eq!(value_in_words(51_234.4, "messages/s"), "51,234/s");
        assert_eq!(value_in_words(1_500_000.0, "nanoseconds"), "1.50 ms");
        assert_eq!(value_in_words(2_097_152.0, "bytes"), "2.0 MiB");
    }

    #[test]
    fn changes_are_shares_until_they_are_large() {
        let changes: Vec<String> = [1.041, 0.9, 0.99996, 3.521, 0.1, 0.0213].map(change).into();
        assert_eq!(changes, ["+4.1 %", "-10.0 %", "0.0 %", "×3.52", "×0.10", "×0.021"]);
    }
}
