//! How much of the beginning of a run to leave out.

/// Values that make up a batch: MSER-5.
const BATCH: usize = 5;

/// The number of leading values to leave out after MSER-5 (White 1997): the cut for which the mean of what is
/// left is known best. At most half of the values are cut; fewer than four batches say nothing.
pub fn warm_up_seconds(values: &[f64]) -> usize {
    let batches: Vec<f64> =
        values.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    if batches.len() < 4 {
        return 0;
    }
    let cuts = 0..=batches.len() / 2;
    let best = cuts.min_by(|one, other| {
        error_of_mean(&batches[*one..]).total_cmp(&error_of_mean(&batches[*other..]))
    });
    BATCH * best.unwrap_or(0)
}

/// The squared standard error of the mean, as if the values were independent.
fn error_of_mean(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count * count)
}

#[cfg(test)]
mod tests {
    use super::warm_up_seconds;

    #[test]
    fn what_rises_is_cut() {
        let steady = |at: usize| 100.0 + (at * 7 % 5) as f64;
        let all_steady: Vec<f64> = (0..40).map(steady).collect();
        assert_eq!(warm_up_seconds(&all_steady), 0);
        let rising: Vec<f64> =
            (0..40).map(|at| if at < 8 { 10.0 * at as f64 } else { steady(at) }).collect();
        assert_eq!(warm_up_seconds(&rising), 10);
        assert_eq!(warm_up_seconds(&rising[..19]), 0, "too short to tell");
    }
}
