//! Frames: type, channel, size, payload, 0xCE.

use rabbitscope_protocol::{Input, Write as _};

use crate::{
    error::ConnectionError,
    protocol::frames::{BODY, CONTENT_HEADER, END, HEADER_BYTES, HEARTBEAT, METHOD},
};

/// Octets of a frame besides its payload.
pub(crate) const OVERHEAD: usize = HEADER_BYTES + 1;

/// Kind of a frame's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A method.
    Method,
    /// Properties and size of a message.
    Header,
    /// A part of a message's body.
    Body,
    /// A heartbeat.
    Heartbeat,
}

/// A frame, borrowed from the read buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Kind of its payload.
    pub kind: FrameKind,
    /// Channel, 0 for the connection.
    pub channel: u16,
    /// Payload without header and end octet.
    pub payload: &'a [u8],
}

/// Takes the next complete frame. `limit` is the negotiated frame size in bytes, overhead included.
#[inline]
pub(crate) fn next_frame<'a>(
    input: &mut Input<'a>,
    limit: u32,
) -> Result<Option<Frame<'a>>, ConnectionError> {
    let rest = input.rest();
    let Some(header) = rest.first_chunk::<HEADER_BYTES>() else {
        return early_refusal(rest).map(|()| None);
    };
    let [kind, channel_high, channel_low, size @ ..] = *header;
    let kind = kind_of(kind, rest)?;
    let size = u32::from_be_bytes(size);
    if size as usize + OVERHEAD > limit as usize {
        return Err(ConnectionError::FrameTooLarge { size, limit });
    }
    let end = HEADER_BYTES + size as usize;
    match rest.get(end) {
        None => return Ok(None),
        Some(&END) => {}
        Some(&other) => return Err(ConnectionError::FrameEnd(other)),
    }
    input.take(end + 1);
    let channel = u16::from_be_bytes([channel_high, channel_low]);
    Ok(Some(Frame { kind, channel, payload: &rest[HEADER_BYTES..end] }))
}

fn kind_of(kind: u8, rest: &[u8]) -> Result<FrameKind, ConnectionError> {
    match kind {
        METHOD => Ok(FrameKind::Method),
        CONTENT_HEADER => Ok(FrameKind::Header),
        BODY => Ok(FrameKind::Body),
        HEARTBEAT => Ok(FrameKind::Heartbeat),
        _ => match rest {
            [b'A', b'M', b'Q', b'P', _, major, minor, revision, ..] => {
                let (major, minor, revision) = (*major, *minor, *revision);
                Err(ConnectionError::Version { major, minor, revision })
            }
            [b'A', b'M', b'Q', b'P', _, major, minor] => {
                Err(ConnectionError::Version { major: *major, minor: *minor, revision: 0 })
            }
            _ => Err(ConnectionError::FrameType(kind)),
        },
    }
}

/// Refuses a wrong first octet at once: a peer of another protocol may never send seven octets.
fn early_refusal(rest: &[u8]) -> Result<(), ConnectionError> {
    match rest.first() {
        None | Some(&(METHOD | CONTENT_HEADER | BODY | HEARTBEAT | b'A')) => Ok(()),
        Some(&kind) => Err(ConnectionError::FrameType(kind)),
    }
}

/// Appends a frame whose payload `write` appends.
pub(crate) fn write_frame(
    out: &mut Vec<u8>,
    kind: FrameKind,
    channel: u16,
    write: impl FnOnce(&mut Vec<u8>),
) {
    out.put_u8(match kind {
        FrameKind::Method => METHOD,
        FrameKind::Header => CONTENT_HEADER,
        FrameKind::Body => BODY,
        FrameKind::Heartbeat => HEARTBEAT,
    });
    out.put_u16(channel);
    let at = out.len();
    out.put_u32(0);
    write(out);
    let size = u32::try_from(out.len() - at - 4).unwrap_or(u32::MAX);
    out[at..at + 4].copy_from_slice(&size.to_be_bytes());
    out.put_u8(END);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_frames_in_one_read() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, FrameKind::Method, 1, |out| out.extend_from_slice(b"abc"));
        write_frame(&mut bytes, FrameKind::Heartbeat, 0, |_| {});
        let whole = bytes.len();
        write_frame(&mut bytes, FrameKind::Body, 513, |out| out.extend_from_slice(b"tail"));
        for end in whole..bytes.len() {
            let mut frames = Input::new(&bytes[..end]);
            let first = Frame { kind: FrameKind::Method, channel: 1, payload: b"abc" };
            assert_eq!(next_frame(&mut frames, 4096), Ok(Some(first)));
            assert_eq!(next_frame(&mut frames, 4096).unwrap().unwrap().kind, FrameKind::Heartbeat);
            assert_eq!(next_frame(&mut frames, 4096), Ok(None));
            assert_eq!(frames.consumed(), whole);
            assert_eq!(frames.rest().len(), end - whole);
        }
        let mut frames = Input::new(&bytes[whole..]);
        assert_eq!(next_frame(&mut frames, 4096).unwrap().unwrap().channel, 513);
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        fn check(bytes: &[u8], expected: ConnectionError) {
            assert_eq!(next_frame(&mut Input::new(bytes), 4096), Err(expected), "{bytes:?}");
        }
        check(b"HTTP/1.1 400 Bad Request", ConnectionError::FrameType(b'H'));
        check(b"H", ConnectionError::FrameType(b'H'));
        let version = ConnectionError::Version { major: 0, minor: 9, revision: 1 };
        check(b"AMQP\x00\x00\x09\x01", version);
        let large = ConnectionError::FrameTooLarge { size: 4089, limit: 4096 };
        check(&[1, 0, 0, 0, 0, 0x0f, 0xf9], large);
        check(&[1, 0, 0, 0, 0, 0, 1, 0, 0], ConnectionError::FrameEnd(0));
    }

    #[test]
    fn the_largest_frame_passes() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, FrameKind::Body, 1, |out| out.resize(out.len() + 4088, 0));
        assert_eq!(bytes.len(), 4096);
        assert!(next_frame(&mut Input::new(&bytes), 4096).unwrap().is_some());
    }
}
