//! The handshake: login, limits, virtual host.

use std::time::Duration;

use super::state::{Connection, FRAME_MAX, LEAST_FRAME_MAX, Mechanism, Phase};
use crate::{
    address::Addressing,
    codec::{Fields, Value, Write, write_frame},
    error::ConnectionError,
    event::Event,
    protocol::codes::{
        AMQP_FRAME, AMQP_HEADER, OPEN, SASL_FRAME, SASL_HEADER, SASL_INIT, SASL_MECHANISMS,
        SASL_OUTCOME,
    },
};

impl Connection {
    /// Returns the header that the broker must send next; `None` once there are frames only.
    #[inline]
    pub(super) fn awaited_header(&self) -> Option<[u8; 8]> {
        match self.phase {
            Phase::AwaitSaslHeader => Some(SASL_HEADER),
            Phase::AwaitHeader => Some(AMQP_HEADER),
            _ => None,
        }
    }

    /// Handles a header of the broker.
    pub(super) fn on_header(
        &mut self,
        received: [u8; 8],
        expected: [u8; 8],
    ) -> Result<(), ConnectionError> {
        if received != expected {
            return Err(ConnectionError::OtherProtocol(received));
        }
        if self.phase == Phase::AwaitSaslHeader {
            self.phase = Phase::AwaitMechanisms;
        } else {
            self.phase = Phase::AwaitOpen;
            self.open();
        }
        Ok(())
    }

    /// Handles a frame of the login.
    pub(super) fn on_login(
        &mut self,
        code: u64,
        mut fields: Fields<'_>,
    ) -> Result<(), ConnectionError> {
        match (self.phase, u8::try_from(code)) {
            (Phase::AwaitMechanisms, Ok(SASL_MECHANISMS)) => {
                self.authenticate(&fields.value()?.symbols())
            }
            (Phase::AwaitOutcome, Ok(SASL_OUTCOME)) => {
                let code = fields.required_uint()?;
                if code != 0 {
                    let code = u8::try_from(code).unwrap_or(u8::MAX);
                    return Err(ConnectionError::LoginRefused { code });
                }
                self.phase = Phase::AwaitHeader;
                self.output.end().extend_from_slice(&AMQP_HEADER);
                Ok(())
            }
            _ => Err(ConnectionError::Unexpected { code }),
        }
    }

    fn authenticate(&mut self, offered: &[&str]) -> Result<(), ConnectionError> {
        let login = &mut self.login;
        let (wanted, response) = match login.mechanism {
            Mechanism::Plain => ("PLAIN", format!("\0{}\0{}", login.user, login.password)),
            Mechanism::External => ("EXTERNAL", String::new()),
            Mechanism::Anonymous => ("ANONYMOUS", String::new()),
        };
        if !offered.contains(&wanted) {
            return Err(ConnectionError::Mechanism { wanted, offered: offered.join(", ") });
        }
        // The password is not needed any more.
        login.password = String::new();
        self.phase = Phase::AwaitOutcome;
        write_frame(self.output.end(), SASL_FRAME, 0, Some(SASL_INIT), |list| {
            list.put(|out| out.put_symbol(wanted));
            list.put(|out| out.put_binary(response.as_bytes()));
        });
        Ok(())
    }

    fn open(&mut self) {
        let login = &self.login;
        let idle = login.idle_seconds().map(|seconds| seconds.saturating_mul(1000));
        let channel_max = self.channel_max;
        write_frame(self.output.end(), AMQP_FRAME, 0, Some(OPEN), |list| {
            list.put(|out| out.put_text(&login.name));
            list.put(|out| out.put_text(&format!("vhost:{}", login.vhost)));
            list.put(|out| out.put_uint(FRAME_MAX));
            list.put(|out| out.put_ushort(channel_max));
            list.put_some(idle, Vec::put_uint);
            // Locales and capabilities.
            list.nulls(4);
            list.put(|out| {
                let version = env!("CARGO_PKG_VERSION");
                out.put_map(|map| {
                    for (key, value) in
                        [("product", "rabbitscope"), ("version", version), ("platform", "Rust")]
                    {
                        map.put(|out| out.put_symbol(key));
                        map.put(|out| out.put_text(value));
                    }
                });
            });
        });
    }

    /// Handles the broker's `open`: agrees on the smaller limits.
    pub(super) fn on_open(
        &mut self,
        mut fields: Fields<'_>,
    ) -> Result<Event<'static>, ConnectionError> {
        // `container-id`, `hostname`
        fields.skip(2)?;
        let frame_max = fields.uint()?.unwrap_or(u32::MAX);
        self.frame_max = frame_max.clamp(LEAST_FRAME_MAX, FRAME_MAX);
        let channel_max = fields.uint()?.unwrap_or(u16::MAX.into());
        self.channel_max = self.channel_max.min(u16::try_from(channel_max).unwrap_or(u16::MAX));
        // The broker must be heard of as often as it says, and so must this client.
        let theirs = fields.uint()?.filter(|millis| *millis > 0);
        let theirs = theirs.map(|millis| Duration::from_millis(millis.into()));
        let ours = self.login.idle_seconds().map(|seconds| Duration::from_secs(seconds.into()));
        self.heartbeat.interval = [ours, theirs].into_iter().flatten().min();
        fields.skip(4)?;
        if let Value::Map(properties) = fields.value()? {
            for (key, value) in properties.pairs() {
                if let (Some(key), Some(value)) = (key.words(), value.words()) {
                    self.properties.insert(key.to_owned(), value.to_owned());
                }
            }
        }
        if let Some(version) = self.property("version") {
            (self.addressing, self.release) = (Addressing::of_version(version), release(version));
        }
        self.phase = Phase::Open;
        Ok(Event::Opened)
    }
}

/// Returns the first two numbers of a version.
fn release(version: &str) -> (u32, u32) {
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}
