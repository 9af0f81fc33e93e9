//! Conversion of received frames into events.

use super::{assembly::Progress, state::Connection};
use crate::{
    error::ConnectionError,
    event::Event,
    frame::{FrameKind, Frames},
    method::ServerMethod,
};

impl Connection {
    /// Processes frames up to the next event for the caller. Returns `None` if more bytes are needed; these belong
    /// behind [`Frames::rest`]. An error ends the connection. The output may still be written, to tell the broker the
    /// reason.
    #[inline]
    pub fn next_event<'a>(
        &mut self,
        frames: &mut Frames<'a>,
    ) -> Result<Option<Event<'a>>, ConnectionError> {
        loop {
            let start = frames.consumed();
            let Some(frame) = frames.next(self.limits.frame_max)? else { return Ok(None) };
            let event = match frame.kind {
                FrameKind::Method => match ServerMethod::parse(frame.payload)? {
                    ServerMethod::Content(method) => {
                        let channel = frame.channel;
                        match self.content(channel, method, frames)? {
                            Progress::Complete(event) => Some(event),
                            Progress::Assembling => None,
                            Progress::Incomplete => {
                                frames.rewind(start);
                                return Ok(None);
                            }
                        }
                    }
                    method => self.on_method(frame.channel, method)?,
                },
                FrameKind::Header | FrameKind::Body => self.assemble(&frame)?,
                FrameKind::Heartbeat => None,
            };
            if event.is_some() {
                return Ok(event);
            }
        }
    }
}
