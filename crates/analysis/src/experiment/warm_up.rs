//! The length of a run's warm-up.

/// Number of values in a batch, as in MSER-5.
const BATCH: usize = 5;

/// Returns the number of leading values to leave out by MSER-5 (White 1997): the cut with the smallest error of the
/// remaining values' mean. Cuts at most half of the values; fewer than four batches give 0.
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

/// Returns the squared standard error of the mean, as if the values were independent.
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
        let steady = |index: usize| 100.0 + (index * 7 % 5) as f64;
        let all_steady: Vec<f64> = (0..40).map(steady).collect();
        assert_eq!(warm_up_seconds(&all_steady), 0);
        let rising: Vec<f64> = (0..40)
            .map(|index| if index < 8 { 10.0 * index as f64 } else { steady(index) })
            .collect();
        assert_eq!(warm_up_seconds(&rising), 10);
        assert_eq!(warm_up_seconds(&rising[..19]), 0, "too short to tell");
    }
}
