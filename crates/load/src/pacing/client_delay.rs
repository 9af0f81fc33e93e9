//! The part of a message's delay that the client itself causes.
//!
//! A due message waits for the broker while the window is full, the socket is full or an alarm holds. It waits for the
//! client while the thread has no CPU or serves other connections. A late client finds many due messages. If these fill
//! the window, the last of them wait for the broker only because the client was late. The longest time that the client
//! wasted is therefore kept, and counts for all messages that were due in it.
//!
//! Limit: the client does not know about unread data. A confirm in the socket counts as the broker's delay until it is
//! read, even while the thread has no CPU.

use rabbitscope_timing::{Nanos, RunInstant};

/// The client delay of one publisher or caller.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClientDelay {
    /// The period in which a message was due and only the client delayed it.
    wasted: (RunInstant, RunInstant),
}

impl ClientDelay {
    /// Returns the part of a message's delay that the client caused. The message was due at `due`, the broker held it
    /// back until `ready_at`, and it is sent at `now`. The caller must pass messages in the order of their due times.
    #[inline]
    pub(crate) fn measure(
        &mut self,
        due: RunInstant,
        ready_at: RunInstant,
        now: RunInstant,
    ) -> Nanos {
        let from = due.max(ready_at).min(now);
        let idle = now.since(from);
        let (begin, end) = self.wasted;
        let before = end.min(from).since(begin.max(due));
        if idle > before {
            self.wasted = (from, now);
        }
        idle + before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_gets_its_part() {
        /// Checks successive messages, as `(due, ready_at, now)`, and the client's part of each.
        fn check(what: &str, messages: &[(u64, u64, u64)], expected: &[u64]) {
            let mut delay = ClientDelay::default();
            let at = RunInstant::from_nanos;
            let own: Vec<_> = messages
                .iter()
                .map(|(due, ready, now)| delay.measure(at(*due), at(*ready), at(*now)).get())
                .collect();
            assert_eq!(own, expected, "{what}");
        }
        check("on time", &[(10, 0, 10), (20, 0, 20)], &[0, 0]);
        check("the client was away", &[(10, 0, 30), (20, 0, 30), (40, 0, 41)], &[20, 10, 1]);
        check("the window was full", &[(10, 29, 30), (20, 29, 30), (25, 60, 60)], &[1, 1, 1]);
        check("the broker first, then the client", &[(10, 20, 50)], &[30]);
        // Two messages fit into the window; the third waits for a confirm. The client causes 12, then the broker 5,
        // then the client 1 more.
        let behind = [(10, 0, 30), (14, 0, 30), (18, 35, 36), (29, 35, 36), (35, 35, 36)];
        check("the window is full because the client was away", &behind, &[20, 16, 13, 2, 1]);
        check("before its time", &[(10, 50, 40)], &[0]);
    }
}
