//! Turns received frames into events.

use super::{assembly::Progress, state::Connection};
use crate::{
    error::ConnectionError,
    event::Event,
    frame::{FrameKind, Frames},
    method::ServerMethod,
};

impl Connection {
    /// Takes frames until one of them is an event for the caller. `None` says that more bytes are needed;
    /// [`Frames::rest`] belongs before them. An error ends the connection; the output may still be written, so
    /// that the broker learns the reason.
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
