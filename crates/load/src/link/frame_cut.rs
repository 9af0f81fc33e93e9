//! The output of a client of AMQP 0-9-1 that writes each frame by itself.

use core::ops::Range;

/// Place of the payload's size in a frame, behind type and channel.
const SIZE: Range<usize> = 3..7;
/// Bytes of a frame around its payload: those before it, and the end.
const AROUND: usize = 8;

/// Bytes of the frame that is being written and have not gone yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrameCut {
    left: usize,
}

impl FrameCut {
    /// Returns the bytes for the next write: the rest of a frame.
    pub(super) fn next<'a>(&mut self, pending: &'a [u8]) -> &'a [u8] {
        if self.left == 0 {
            let size = pending.get(SIZE).and_then(|size| size.try_into().ok());
            let payload = size.map_or(0, u32::from_be_bytes);
            self.left = usize::try_from(payload).map_or(usize::MAX, |payload| payload + AROUND);
        }
        &pending[..self.left.min(pending.len())]
    }

    pub(super) fn advance(&mut self, taken: usize) {
        self.left = self.left.saturating_sub(taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A method of 2 bytes, and an empty heartbeat.
    const FRAMES: [u8; 18] = [1, 0, 1, 0, 0, 0, 2, 60, 40, 0xCE, 8, 0, 0, 0, 0, 0, 0, 0xCE];

    #[test]
    fn each_write_has_the_rest_of_a_frame() {
        let mut cut = FrameCut::default();
        assert_eq!(cut.next(&FRAMES), &FRAMES[..10]);
        // The socket took four bytes.
        cut.advance(4);
        assert_eq!(cut.next(&FRAMES[4..]), &FRAMES[4..10]);
        cut.advance(6);
        assert_eq!(cut.next(&FRAMES[10..]), &FRAMES[10..]);
        cut.advance(8);
        assert_eq!(cut.next(&[]), &[] as &[u8]);
    }
}
