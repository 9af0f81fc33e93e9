//! Sentences about the results of an experiment.

use rabbitscope_runs::experiment::{
    Comparison, ComparisonRole, ExperimentResult, Goal, MetricFacts, Verdict,
};

use super::figures::{Scale, median, p_in_words, percent};

/// Formats a change in words: `4.1 % faster`, `3.52 times as high`.
fn changed(ratio: f64, metric: &MetricFacts, scale: Scale) -> String {
    let is_speed = metric.goal == Goal::Higher && metric.unit.ends_with("/s");
    let (more, less) = if is_speed { ("faster", "slower") } else { ("higher", "lower") };
    let size = 100.0 * (ratio - 1.0).abs();
    match scale {
        Scale::Times => {
            let times = scale.change(ratio).replace('×', "");
            format!("{times} times as {}", if is_speed { "fast" } else { "high" })
        }
        Scale::Percent if ratio >= 1.0 => format!("{size:.1} % {more}"),
        Scale::Percent => format!("{size:.1} % {less}"),
    }
}

/// Returns the subject of a sentence. A rate is named after its messages: `consumed` is 4 % faster.
fn subject(metric: &MetricFacts) -> &str {
    metric.name.strip_suffix(".rate").unwrap_or(&metric.name)
}

/// Describes one comparison. `counted` is the number of rounds that were not dropped.
pub(super) fn of_comparison(
    result: &ExperimentResult,
    comparison: &Comparison,
    counted: usize,
) -> String {
    let metric = &result.metrics[comparison.metric];
    let (arm, baseline) = (&result.arms[comparison.arm].name, &result.arms[0].name);
    let Some(ratio) = comparison.ratio else {
        return format!("{arm} against {baseline}: no round has {} in both arms.", metric.name);
    };
    let Some((low, high)) = comparison.low.zip(comparison.high) else {
        let arm = if comparison.role == ComparisonRole::Control { baseline } else { arm };
        let against = if arm == baseline { "itself" } else { baseline };
        return format!(
            "{arm} against {against}: {} {} in {}: too few rounds for a conclusion.",
            subject(metric),
            changed(ratio, metric, Scale::from_comparison(comparison)),
            rounds(comparison.differences.len()),
        );
    };
    let scale = Scale::from_comparison(comparison);
    let (change, interval) = (scale.change(ratio), scale.interval((low, high)));
    if comparison.role == ComparisonRole::Control {
        return format!("{baseline} against itself: {} {change} ({interval}).", subject(metric));
    }
    let how = how(result, comparison, counted);
    let confidence = percent(1.0 - result.alpha);
    match comparison.verdict {
        Verdict::Differs => format!(
            "{arm} against {baseline}: {} {} ({confidence} interval {interval}; {how}).{}",
            subject(metric),
            changed(ratio, metric, scale),
            caution(result, comparison),
        ),
        Verdict::Equivalent => format!(
            "{arm} against {baseline}: {} the same within {} ({change} with a {confidence} interval of {interval}; \
             {how}).",
            subject(metric),
            percent(result.interest()),
        ),
        Verdict::Undecided => undecided(result, comparison, &interval, &how),
    }
}

fn undecided(
    result: &ExperimentResult,
    comparison: &Comparison,
    interval: &str,
    how: &str,
) -> String {
    let metric = &result.metrics[comparison.metric];
    let (arm, baseline) = (&result.arms[comparison.arm].name, &result.arms[0].name);
    let excludes = |bound: Option<f64>, is_above: bool| {
        bound.is_some_and(|bound| if is_above { bound > 1.0 } else { bound < 1.0 })
    };
    let is_adjusted = excludes(comparison.low, true) || excludes(comparison.high, false);
    let because = if is_adjusted {
        let p = p_in_words(comparison.adjusted_p.unwrap_or(1.0));
        format!(
            ", since one of so many comparisons may look like this by chance (p = {p} after Holm)"
        )
    } else {
        String::new()
    };
    format!(
        "{arm} against {baseline}: no difference of {} shown{because}: {interval} ({how}). {}",
        subject(metric),
        advice(result, comparison),
    )
}

/// Advises a number of rounds.
fn advice(result: &ExperimentResult, comparison: &Comparison) -> String {
    let interest = percent(result.interest());
    let needed = comparison.rounds_to_decide.unwrap_or(0);
    if needed as usize <= comparison.differences.len() {
        format!("This number of rounds shows a difference of {interest} in 8 of 10 experiments.")
    } else {
        format!("About {needed} rounds show a difference of {interest} in 8 of 10 experiments.")
    }
}

/// Names other possible causes of a difference of this size: the order of runs, from the control, and other users of
/// the machine.
fn caution(result: &ExperimentResult, comparison: &Comparison) -> String {
    let size = |ratio: Option<f64>| ratio.map_or(0.0, |ratio| ratio.ln().abs());
    let least = size(comparison.low).min(size(comparison.high));
    let mut controls = result.comparisons.iter();
    let control = controls.find(|control| {
        control.role == ComparisonRole::Control
            && control.metric == comparison.metric
            && size(control.ratio) >= least
    });
    let own =
        control.and_then(|control| Some(Scale::from_comparison(control).change(control.ratio?)));
    let own = own.map(|own| {
        let baseline = &result.arms[0].name;
        format!(" But {baseline} against itself is as far off: {own}.")
    });
    let is_counted =
        |round: u32| comparison.differences.iter().any(|difference| difference.round == round);
    let runs = result.runs.iter().filter(|run| run.arm == 0 || run.arm == comparison.arm);
    let shares = runs.filter(|run| is_counted(run.round)).filter_map(|run| run.foreign_share);
    let others = median(shares.collect()).filter(|share| *share >= 0.01 && share.ln_1p() >= least);
    let others = others.map(|share| {
        format!(
            " Other processes used {:.0} % of the machine meanwhile, which can have the same effect.",
            100.0 * share
        )
    });
    own.into_iter().chain(others).collect()
}

fn how(result: &ExperimentResult, comparison: &Comparison, counted: usize) -> String {
    let made = counted + dropped_rounds(result);
    format!("{} of {made} rounds, random order, seed {}", comparison.differences.len(), result.seed)
}

fn dropped_rounds(result: &ExperimentResult) -> usize {
    let mut rounds: Vec<u32> = result.dropped.iter().map(|dropped| dropped.round).collect();
    rounds.dedup();
    rounds.len()
}

fn rounds(count: usize) -> String {
    if count == 1 { "1 round".to_owned() } else { format!("{count} rounds") }
}

/// Describes a sweep in one sentence. Its curves and intervals show more than verdicts, for which this many comparisons
/// need many rounds.
fn of_sweep(result: &ExperimentResult, counted: usize) -> String {
    let primary =
        result.comparisons.iter().filter(|comparison| comparison.role == ComparisonRole::Primary);
    let all = primary.clone().count();
    let metric = result.metrics.first().map_or("", |metric| metric.name.as_str());
    let first = result.arms.first().map_or("", |arm| arm.name.as_str());
    let needed = rounds_for(all, result.alpha);
    let together = if counted < needed {
        format!("{needed} rounds could tell all of them from chance together")
    } else {
        let differ = primary.filter(|comparison| comparison.verdict == Verdict::Differs).count();
        format!("together (Holm), {differ} of {all} differ in {metric}")
    };
    format!(
        "{} combinations, compared with {first}: {counted} of {} rounds, random order, seed {}. Each interval ({}) \
         holds for its combination alone; {together}.",
        result.arms.len(),
        counted + dropped_rounds(result),
        result.seed,
        percent(1.0 - result.alpha),
    )
}

/// Returns the fewest rounds in which the signed-rank test's smallest possible p-value, 2^(1 - rounds), is at most
/// `alpha` after Holm's correction for this many comparisons.
fn rounds_for(comparisons: usize, alpha: f64) -> usize {
    let reached = |rounds: &usize| comparisons as f64 * 2.0 * 0.5_f64.powf(*rounds as f64) <= alpha;
    (1..64).find(reached).unwrap_or(64)
}

/// Returns the sentences of the primary metric, with the control's last; for a sweep, one sentence for all
/// combinations. `counted` is the number of rounds that were not dropped.
pub(super) fn of_result(result: &ExperimentResult, counted: usize) -> Vec<String> {
    if !result.axes.is_empty() {
        return vec![of_sweep(result, counted)];
    }
    let sentences_of = |role: ComparisonRole| {
        let found = result
            .comparisons
            .iter()
            .filter(move |comparison| comparison.role == role && comparison.metric == 0);
        found.map(|comparison| comparison.sentence.clone())
    };
    sentences_of(ComparisonRole::Primary).chain(sentences_of(ComparisonRole::Control)).collect()
}
