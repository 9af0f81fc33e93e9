//! Numbers of a publisher's messages in the protocol.

/// Numbers of a publisher's messages. Those that are sent again have their old numbers, and come first. All numbers rise,
/// so that a stream with a reference knows which messages it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbering {
    /// Numbers of the messages that are sent again.
    again: Vec<u64>,
    /// Number of the first message behind them.
    next: u64,
    /// Messages that have been sent.
    sent: u64,
}

impl Default for Numbering {
    fn default() -> Self {
        Self { again: Vec::new(), next: 1, sent: 0 }
    }
}

impl Numbering {
    /// Creates the numbers of a publisher that sends these messages again, and then goes on with `next`. `again` rises,
    /// and ends below `next`.
    pub(super) fn new(again: Vec<u64>, next: u64) -> Self {
        Self { again, next, sent: 0 }
    }

    /// Returns the number of the message that is sent now.
    #[inline]
    pub(super) fn take(&mut self) -> u64 {
        let index = self.sent;
        self.sent += 1;
        let before = self.again.len() as u64;
        match index.checked_sub(before) {
            Some(behind) => self.next + behind,
            None => usize::try_from(index).map_or(0, |index| self.again[index]),
        }
    }

    /// Returns the position of a sent message on this connection, from 1; `None` if no message had this number.
    #[inline]
    pub(super) fn position(&self, number: u64) -> Option<u64> {
        let before = self.again.len() as u64;
        let position = match number.checked_sub(self.next) {
            Some(behind) => before.saturating_add(behind).saturating_add(1),
            None => self.again.binary_search(&number).ok()? as u64 + 1,
        };
        (position <= self.sent).then_some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_publisher_counts_from_one() {
        let mut numbering = Numbering::default();
        assert_eq!(numbering.position(1), None, "it is not sent yet");
        assert_eq!([numbering.take(), numbering.take()], [1, 2]);
        assert_eq!(
            [0, 1, 2, 3].map(|number| numbering.position(number)),
            [None, Some(1), Some(2), None]
        );
    }

    #[test]
    fn messages_that_are_sent_again_keep_their_numbers() {
        let mut numbering = Numbering::new(vec![5, 6, 9], 10);
        let sent: Vec<_> = (0..5).map(|_| numbering.take()).collect();
        assert_eq!(sent, [5, 6, 9, 10, 11]);
        let positions = sent.iter().map(|number| numbering.position(*number));
        assert_eq!(positions.collect::<Vec<_>>(), (1..=5).map(Some).collect::<Vec<_>>());
        assert_eq!([7, 12].map(|number| numbering.position(number)), [None, None]);
    }
}
