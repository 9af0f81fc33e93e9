//! Use of the VM's schedulers within an interval.

use rabbitscope_erlang::Term;

/// The share of the interval in which each scheduler worked, 0 to 1, by its number. Those for Erlang code have the
/// lowest numbers, those for long work on a CPU the next ones, those for input and output the highest.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SchedulerUse(Vec<(u64, f64)>);

impl SchedulerUse {
    /// Reads pairs of number and thousandths.
    pub(crate) fn from_term(schedulers: &Term) -> Option<Self> {
        let of_each = schedulers.as_list()?.iter().filter_map(|one| match one.as_tuple()? {
            [id, thousandths] => Some((id.as_u64()?, thousandths.as_f64()? / 1e3)),
            _ => None,
        });
        Some(Self(of_each.collect()))
    }

    /// Returns the mean of the online schedulers for Erlang code.
    pub(crate) fn mean(&self, online: u64) -> Option<f64> {
        let counted: Vec<f64> = self.first(online).collect();
        (!counted.is_empty()).then(|| counted.iter().sum::<f64>() / counted.len() as f64)
    }

    /// Returns the use of the busiest online scheduler for Erlang code.
    pub(crate) fn busiest(&self, online: u64) -> Option<f64> {
        self.first(online).reduce(f64::max)
    }

    /// Returns the sum over the schedulers after a number. Absent without such schedulers.
    pub(crate) fn sum_after(&self, number: u64) -> Option<f64> {
        let shares = self.0.iter().filter(|(id, _)| *id > number).map(|(_, share)| *share);
        shares.reduce(|sum, share| sum + share)
    }

    fn first(&self, online: u64) -> impl Iterator<Item = f64> {
        self.0.iter().filter(move |(id, _)| *id <= online).map(|(_, share)| *share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedulers_that_are_not_online_do_not_count() {
        let one = |id: i64, use_: i64| Term::tuple([id.into(), use_.into()]);
        let all = Term::list([one(1, 500), one(2, 1000), one(3, 250)]);
        let all = SchedulerUse::from_term(&all).unwrap();
        assert_eq!((all.mean(2), all.busiest(2)), (Some(0.75), Some(1.0)));
        assert_eq!((all.sum_after(2), all.sum_after(3)), (Some(0.25), None));
        assert_eq!(SchedulerUse::default().mean(2), None);
    }
}
