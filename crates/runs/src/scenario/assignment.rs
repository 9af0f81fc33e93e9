//! The queues of each member of a group of publishers, consumers, callers or responders.

use crate::scenario::MemberQueues;

/// Returns the indices of the queues, out of `queues`, that `member` of `count` members uses.
pub fn assigned_queues(
    which: MemberQueues,
    member: u32,
    count: u32,
    queues: usize,
) -> impl Iterator<Item = usize> {
    let (member, count) = (member as usize, (count as usize).max(1));
    let turn = member % queues.max(1);
    match which {
        MemberQueues::All => (0..queues).step_by(1),
        MemberQueues::One => (turn..queues.min(turn + 1)).step_by(1),
        MemberQueues::Share if queues < count => (turn..queues).step_by(count),
        MemberQueues::Share => (member..queues).step_by(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_shared_out() {
        fn check(which: MemberQueues, count: u32, queues: usize, expected: &[&[usize]]) {
            let of = |member| assigned_queues(which, member, count, queues).collect();
            let shares: Vec<Vec<_>> = (0..count).map(of).collect();
            assert_eq!(shares, expected);
        }
        check(MemberQueues::Share, 3, 1, &[&[0], &[0], &[0]]);
        check(MemberQueues::Share, 3, 2, &[&[0], &[1], &[0]]);
        check(MemberQueues::Share, 2, 5, &[&[0, 2, 4], &[1, 3]]);
        check(MemberQueues::Share, 2, 2, &[&[0], &[1]]);
        check(MemberQueues::One, 2, 5, &[&[0], &[1]]);
        check(MemberQueues::One, 3, 2, &[&[0], &[1], &[0]]);
        check(MemberQueues::All, 2, 3, &[&[0, 1, 2], &[0, 1, 2]]);
        check(MemberQueues::All, 1, 0, &[&[]]);
    }
}
