//! Messages of the current chunk, entry by entry.

use rabbitscope_protocol::Input;

use super::{
    chunk::{SEVERAL, Several},
    state::Connection,
};
use crate::{error::ConnectionError, event::Event};

impl Connection {
    /// Returns the next message of the current chunk, or its end.
    #[inline]
    pub(super) fn next_delivery<'a>(
        &mut self,
        input: &mut Input<'a>,
    ) -> Result<Option<Event<'a>>, ConnectionError> {
        let limit = self.frame_max as usize;
        let Some(chunk) = &mut self.chunk else { return Ok(None) };
        loop {
            if chunk.messages > 0 {
                let Some(message) = chunk.message(input, limit)? else { return Ok(None) };
                chunk.messages -= 1;
                return Ok(Some(Event::Delivery(message)));
            }
            if chunk.entries == 0 {
                break;
            }
            let Some(first) = input.rest().first() else { return Ok(None) };
            if first & SEVERAL == 0 {
                let Some(message) = chunk.message(input, limit)? else { return Ok(None) };
                chunk.entries -= 1;
                return Ok(Some(Event::Delivery(message)));
            }
            match chunk.several(input, limit)? {
                None => return Ok(None),
                Some(Several::Plain) => chunk.entries -= 1,
                Some(Several::Packed(packed)) => {
                    chunk.entries -= 1;
                    return Ok(Some(Event::Packed(packed)));
                }
            }
        }
        chunk.left -= input.take(chunk.left).len();
        if chunk.left > 0 {
            return Ok(None);
        }
        let subscription = chunk.subscription;
        self.chunk = None;
        Ok(Some(Event::ChunkEnd { subscription }))
    }
}
