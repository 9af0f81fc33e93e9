//! Frames after the handshake: four bytes of length, then a control message. Length 0 is a tick.

/// Size limit of a frame. Messages of the agents have at most 1 MiB; the size of other answers depends on the call.
pub(crate) const MAX_FRAME_BYTES: usize = 64 << 20;

/// A reason why bytes are not valid frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The frame is larger than the limit.
    #[error("a frame of {0} bytes; at most {MAX_FRAME_BYTES} are accepted")]
    TooLarge(usize),
}

/// Splits received bytes into frames.
#[derive(Debug, Default)]
pub struct FrameReader {
    buffer: Vec<u8>,
    /// Number of bytes that were returned as frames.
    used: usize,
}

impl FrameReader {
    /// Adds received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.used);
        self.used = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next complete frame without its length, and skips ticks.
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, FrameError> {
        loop {
            let Some((length, rest)) = self.buffer[self.used..].split_first_chunk() else {
                return Ok(None);
            };
            let length = u32::from_be_bytes(*length) as usize;
            if length > MAX_FRAME_BYTES {
                return Err(FrameError::TooLarge(length));
            }
            if rest.len() < length {
                return Ok(None);
            }
            let start = self.used + 4;
            self.used = start + length;
            if length > 0 {
                return Ok(Some(&self.buffer[start..start + length]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_in_pieces() {
        let bytes = [0, 0, 0, 0, 0, 0, 0, 2, 7, 8, 0, 0, 0, 1, 9, 0, 0, 0, 0];
        for size in 1..=bytes.len() {
            let mut reader = FrameReader::default();
            let mut found = Vec::new();
            for piece in bytes.chunks(size) {
                reader.push(piece);
                while let Some(frame) = reader.next_frame().unwrap() {
                    found.push(frame.to_vec());
                }
            }
            assert_eq!(found, [vec![7, 8], vec![9]], "{size}");
        }
    }

    #[test]
    fn a_frame_that_is_too_large() {
        let mut reader = FrameReader::default();
        reader.push(&[255; 4]);
        assert_eq!(reader.next_frame(), Err(FrameError::TooLarge(u32::MAX as usize)));
    }
}
