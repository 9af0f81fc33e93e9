//! The comparison of two checks.

use super::{
    clients,
    conditions::conditions,
    cpu,
    judgements::judgements,
    model::{Difference, Differences},
    noise::Judge,
    single::{self, Compared},
};
use crate::{figures::MOST_ROWS, report::CheckReport};

/// Finds the largest differences between an earlier check and a later one.
///
/// Figures from counts differ if the change is larger than chance explains: any of all comparisons is wrong in 1 of
/// 1,000 comparisons of two checks. All figures must differ by a threshold as well, from 10 % on.
pub fn compare(old: &CheckReport, new: &CheckReport) -> Differences {
    let compared = Compared {
        figures: [&old.figures, &new.figures],
        seconds: [old, new].map(|report| report.duration_nanos as f64 / 1e9),
    };
    let comparisons = single::common(compared) + cpu::common(compared) + clients::common(compared);
    let judge = Judge::new(comparisons);
    let mut all = single::differences(compared, judge);
    all.extend(cpu::differences(compared, judge));
    all.extend(clients::differences(compared, judge));
    all.sort_by(order);
    let found = all.len() as u64;
    all.truncate(MOST_ROWS);
    Differences {
        conditions: conditions(old, new),
        judgements: judgements(old, new),
        largest: all,
        found,
        compared: comparisons as u64,
    }
}

/// Orders differences by size, then by name.
fn order(one: &Difference, other: &Difference) -> std::cmp::Ordering {
    let key = |difference: &Difference| (difference.subject.clone(), difference.figure.clone());
    other.size.total_cmp(&one.size).then_with(|| key(one).cmp(&key(other)))
}
