//! Received messages. Almost always the whole packet has been read; then the message is borrowed. A large one is copied
//! piece by piece.

use std::borrow::Cow;

use rabbitscope_protocol::{Input, Reader};

use super::{
    assembly_state::Assembly,
    state::{Connection, WHOLE_MAX},
};
use crate::{
    codec::{Head, read_length},
    error::ConnectionError,
    event::{Event, Message},
    protocol::{
        packets::{DUPLICATE, QUALITY_SHIFT},
        version::Version,
    },
};

/// Bytes that are read before a large message is copied. They have everything before its body: the topic has at most half
/// of them.
const BEGIN: usize = WHOLE_MAX as usize;

impl Connection {
    /// Returns the message of a packet whose head was read; `None` if it is not complete.
    #[inline]
    pub(super) fn delivery<'a>(
        &mut self,
        head: Head,
        input: &mut Input<'a>,
    ) -> Result<Option<Event<'a>>, ConnectionError> {
        if input.rest().len() >= head.size() {
            let mut content = Reader::new(input.take(head.size()), "a message");
            content.take(head.before)?;
            let mut message = begin(self.version, head.first, &mut content)?;
            message.body = Cow::Borrowed(content.rest());
            return Ok(Some(Event::Delivery(message)));
        }
        if head.size() <= BEGIN || input.rest().len() < BEGIN {
            return Ok(None);
        }
        self.begin_assembly(head, input)
    }

    #[cold]
    fn begin_assembly<'a>(
        &mut self,
        head: Head,
        input: &mut Input<'a>,
    ) -> Result<Option<Event<'a>>, ConnectionError> {
        let size = head.size();
        let bytes = input.take(BEGIN);
        let mut content = Reader::new(bytes, "a message");
        content.take(head.before)?;
        let message = begin(self.version, head.first, &mut content)?;
        let Message { topic, packet, is_duplicate, properties, .. } = message;
        let [topic, properties] = [topic, properties].map(|bytes| Cow::Owned(bytes.into_owned()));
        let body = Cow::default();
        self.assembly = Some(Box::new(Assembly {
            message: Message { topic, packet, is_duplicate, properties, body },
            body: content.rest().to_vec(),
            left: size - bytes.len(),
        }));
        Ok(self.assemble(input))
    }

    /// Adds received bytes to the message that is assembled. Returns it when it is complete.
    #[cold]
    pub(super) fn assemble<'a>(&mut self, input: &mut Input<'a>) -> Option<Event<'a>> {
        let assembly = self.assembly.as_mut()?;
        let taken = input.take(assembly.left);
        assembly.body.extend_from_slice(taken);
        assembly.left -= taken.len();
        let complete = self.assembly.take_if(|assembly| assembly.left == 0);
        complete.map(|assembly| {
            Event::Delivery(Message { body: Cow::Owned(assembly.body), ..assembly.message })
        })
    }
}

/// Reads everything before the body.
#[inline]
fn begin<'a>(
    version: Version,
    first: u8,
    content: &mut Reader<'a>,
) -> Result<Message<'a>, ConnectionError> {
    let topic = Cow::Borrowed(content.sized()?);
    let packet = match (first >> QUALITY_SHIFT) & 3 {
        0 => None,
        // Nobody subscribed to more than one.
        1 => Some(content.u16()?).filter(|packet| *packet > 0),
        _ => return Err(ConnectionError::Unexpected { first }),
    };
    let properties = if version == Version::V5 {
        let length = read_length(content)?;
        Cow::Borrowed(content.take(length)?)
    } else {
        Cow::default()
    };
    let is_duplicate = first & DUPLICATE != 0;
    Ok(Message { topic, packet, is_duplicate, properties, body: Cow::default() })
}
