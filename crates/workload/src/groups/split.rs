//! Splits clients by a figure, at wide gaps between neighbours.

use std::collections::{BTreeMap, BTreeSet};

/// Narrowest gap that splits, in doublings.
const GAP_MIN: f64 = 0.6;
/// Number of messages below which a client says nothing alone.
pub(super) const FEW: u64 = 10;

/// A client's figure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// Place of the client in its list.
    pub(super) place: usize,
    /// Logarithm of the figure to base 2.
    pub(super) figure: f64,
    /// Number of messages.
    pub(super) messages: u64,
}

impl Member {
    /// Returns the standard deviation of a rate's logarithm, if messages are independent.
    fn noise(&self) -> f64 {
        1.44 / (self.messages.max(1) as f64).sqrt()
    }
}

/// Splits members where a gap is wider than [`GAP_MIN`] and than three times the noise of both neighbours. Members with few
/// messages join the members with the lowest figures.
pub(super) fn split(members: Vec<Member>) -> Vec<Vec<usize>> {
    let (mut members, few): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|member| member.messages >= FEW);
    members.sort_by(|one, other| one.figure.total_cmp(&other.figure));
    let mut parts: Vec<Vec<usize>> = vec![few.iter().map(|member| member.place).collect()];
    let mut last: Option<Member> = None;
    for member in members {
        if let Some(last) = last {
            let noise = 3.0 * last.noise().hypot(member.noise());
            if member.figure - last.figure > GAP_MIN.max(noise) {
                parts.push(Vec::new());
            }
        }
        if let Some(part) = parts.last_mut() {
            part.push(member.place);
        }
        last = Some(member);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Splits members by queue, if they have fewer queues than are needed.
pub(super) fn by_queue<T, Q: Ord>(
    members: Vec<T>,
    needed: u64,
    queue: impl Fn(&T) -> Q,
) -> Vec<Vec<T>> {
    let queues: BTreeSet<Q> = members.iter().map(&queue).collect();
    if queues.len() as u64 >= needed {
        return vec![members];
    }
    let mut parts: BTreeMap<Q, Vec<T>> = BTreeMap::new();
    for member in members {
        parts.entry(queue(&member)).or_default().push(member);
    }
    parts.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_gaps_split_and_noise_does_not() {
        fn check(rates: &[(f64, u64)], expected: &[&[usize]]) {
            let members = rates.iter().enumerate().map(|(place, (rate, messages))| Member {
                place,
                figure: rate.log2(),
                messages: *messages,
            });
            assert_eq!(split(members.collect()), expected, "{rates:?}");
        }
        check(&[(10.0, 600), (11.0, 660), (50.0, 3_000)], &[&[0, 1], &[2]]);
        check(&[(50.0, 3_000), (10.0, 600)], &[&[1], &[0]]);
        // Few messages: the gap may be noise.
        check(&[(0.5, 10), (1.0, 20)], &[&[0, 1]]);
        check(&[(0.1, 2), (50.0, 3_000), (0.1, 3)], &[&[0, 2, 1]]);
        check(&[], &[]);
    }

    #[test]
    fn members_of_some_queues_of_a_set_are_split() {
        let parts = |members: &[(u32, &'static str)], needed| {
            by_queue(members.to_vec(), needed, |(_, queue)| *queue).len()
        };
        let members = [(1, "a"), (2, "b"), (3, "a")];
        assert_eq!([0, 1, 2, 3].map(|needed| parts(&members, needed)), [1, 1, 1, 2]);
    }
}
