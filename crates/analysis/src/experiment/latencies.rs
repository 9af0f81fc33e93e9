//! Latencies of an arm over its rounds.

use rabbitscope_runs::record::SpectrumPoint;

/// Returns the median of several runs at each percentile that all of them have. The caller leaves out runs without
/// percentiles.
pub fn median_spectrum(runs: &[&[SpectrumPoint]]) -> Vec<SpectrumPoint> {
    let points = runs.iter().map(|run| run.len()).min().unwrap_or(0);
    let median = |index: usize| {
        let mut nanos: Vec<u64> = runs.iter().map(|run| run[index].nanos).collect();
        nanos.sort_unstable();
        let last = nanos.len() - 1;
        let nanos = u64::midpoint(nanos[last / 2], nanos[last.div_ceil(2)]);
        SpectrumPoint { quantile: runs[0][index].quantile, nanos }
    };
    (0..points).map(median).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_percentile_has_the_median_of_the_runs() {
        let run = |nanos: &[u64]| -> Vec<SpectrumPoint> {
            let points = [0.5, 0.9, 0.99].into_iter().zip(nanos);
            points.map(|(quantile, nanos)| SpectrumPoint { quantile, nanos: *nanos }).collect()
        };
        let runs = [run(&[10, 20, 30]), run(&[12, 100]), run(&[11, 22, 33]), run(&[50, 24, 90])];
        let found = median_spectrum(&runs.each_ref().map(Vec::as_slice));
        assert_eq!(found, run(&[11, 23]));
        assert!(median_spectrum(&[]).is_empty());
    }
}
