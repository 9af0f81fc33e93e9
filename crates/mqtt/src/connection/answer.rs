//! The broker's answer to the login, with its limits.

use std::time::Duration;

use super::state::{Connection, Phase};
use rabbitscope_protocol::Reader;

use crate::{
    error::ConnectionError,
    event::Event,
    protocol::{
        properties::{
            self, MAXIMUM_PACKET_SIZE, Property, RECEIVE_MAXIMUM, SERVER_KEEP_ALIVE,
            TOPIC_ALIAS_MAXIMUM,
        },
        reason::Reason,
        version::Version,
    },
};

impl Connection {
    /// Handles the answer to `CONNECT`.
    pub(super) fn on_answer(
        &mut self,
        mut content: Reader<'_>,
    ) -> Result<Event<'static>, ConnectionError> {
        content.u8()?;
        let code = content.u8()?;
        let reason = match self.version {
            Version::V3 => Reason::from_return_code(code),
            Version::V5 => Reason(code),
        };
        if reason != Reason::SUCCESS {
            return Err(ConnectionError::LoginRefused(reason));
        }
        if self.version == Version::V5 {
            self.keep_limits(&mut content)?;
        }
        // The password is not needed any more.
        self.login = None;
        self.phase = Phase::Open;
        Ok(Event::Opened)
    }

    fn keep_limits(&mut self, content: &mut Reader<'_>) -> Result<(), ConnectionError> {
        properties::read(content, |identifier, property| {
            let Property::Number(number) = property else { return };
            let small = u16::try_from(number).unwrap_or(u16::MAX);
            match identifier {
                RECEIVE_MAXIMUM => self.receive_maximum = small,
                TOPIC_ALIAS_MAXIMUM => self.topic_alias_maximum = small,
                MAXIMUM_PACKET_SIZE => self.maximum_packet_size = number,
                SERVER_KEEP_ALIVE => {
                    let interval = Duration::from_secs(small.into());
                    self.keep_alive.interval = (small > 0).then_some(interval);
                }
                _ => {}
            }
        })?;
        Ok(())
    }
}
