//! Correction for several comparisons at once.

/// Returns the p-values adjusted by Holm's method (1979). The chance of any false difference is then that of a single
/// comparison.
pub(super) fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let (mut adjusted, mut least) = (vec![1.0; p_values.len()], 0.0_f64);
    for (place, &index) in order.iter().enumerate() {
        least = least.max(p_values[index] * (p_values.len() - place) as f64).min(1.0);
        adjusted[index] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::adjusted;

    #[test]
    fn the_smallest_counts_most() {
        assert_eq!(adjusted(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
        assert_eq!(adjusted(&[0.5, 0.6]), [1.0, 1.0]);
        assert_eq!(adjusted(&[0.02]), [0.02]);
        assert_eq!(adjusted(&[]), [0.0; 0]);
    }
}
