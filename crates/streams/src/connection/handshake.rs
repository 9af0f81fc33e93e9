//! The handshake: properties, login, limits, virtual host.

use std::time::Duration;

use super::state::{Connection, FRAME_MAX, Mechanism, Phase};
use rabbitscope_protocol::{Reader, Write as _};

use crate::{
    codec::{Read as _, WriteTexts as _, write_frame},
    error::ConnectionError,
    event::Event,
    protocol::{
        codes::Code,
        commands::{ANSWER, OPEN, PEER_PROPERTIES, SASL_AUTHENTICATE, SASL_HANDSHAKE, TUNE},
    },
};

/// First release that takes another token on an open connection.
const RENEWING: (u32, u32) = (3, 13);

/// Answers of the handshake.
const PROPERTIES_ANSWER: u16 = PEER_PROPERTIES | ANSWER;
const MECHANISMS_ANSWER: u16 = SASL_HANDSHAKE | ANSWER;
const AUTHENTICATION_ANSWER: u16 = SASL_AUTHENTICATE | ANSWER;
const OPEN_ANSWER: u16 = OPEN | ANSWER;

impl Connection {
    /// Appends the first request.
    pub(super) fn introduce(&mut self) {
        let name = self.login.name.clone();
        self.ask(PEER_PROPERTIES, |out| {
            out.put_pairs(&[
                ("product", "rabbitscope"),
                ("version", env!("CARGO_PKG_VERSION")),
                ("platform", "Rust"),
                ("connection_name", &name),
            ]);
        });
    }

    /// Handles a frame of the handshake.
    pub(super) fn on_handshake(
        &mut self,
        key: u16,
        mut content: Reader<'_>,
    ) -> Result<Option<Event<'static>>, ConnectionError> {
        match (self.phase, key) {
            (Phase::AwaitProperties, PROPERTIES_ANSWER) => {
                accepted(&mut content, ConnectionError::LoginRefused)?;
                self.keep_properties(&mut content)?;
                self.can_renew = self.is_at_least(RENEWING);
                self.phase = Phase::AwaitMechanisms;
                self.ask(SASL_HANDSHAKE, |_| {});
            }
            (Phase::AwaitMechanisms, MECHANISMS_ANSWER) => {
                accepted(&mut content, ConnectionError::LoginRefused)?;
                self.authenticate(&mut content)?;
            }
            (Phase::AwaitAuthentication, AUTHENTICATION_ANSWER) => {
                accepted(&mut content, ConnectionError::LoginRefused)?;
                self.phase = Phase::AwaitTune;
            }
            (Phase::AwaitTune, TUNE) => self.on_tune(content.u32()?, content.u32()?),
            (Phase::AwaitOpen, OPEN_ANSWER) => {
                accepted(&mut content, ConnectionError::VhostRefused)?;
                self.keep_properties(&mut content)?;
                self.phase = Phase::Open;
                return Ok(Some(Event::Opened));
            }
            _ => return Err(ConnectionError::Unexpected { key }),
        }
        Ok(None)
    }

    fn keep_properties(&mut self, content: &mut Reader<'_>) -> Result<(), ConnectionError> {
        for _ in 0..content.count(4)? {
            let (key, value) = (content.text()?.to_owned(), content.text()?.to_owned());
            self.properties.insert(key, value);
        }
        Ok(())
    }

    fn authenticate(&mut self, content: &mut Reader<'_>) -> Result<(), ConnectionError> {
        let count = content.count(2)?;
        let offered = (0..count).map(|_| content.text()).collect::<Result<Vec<_>, _>>()?;
        let (wanted, response) = match self.login.mechanism {
            Mechanism::Plain => {
                ("PLAIN", format!("\0{}\0{}", self.login.user, self.login.password))
            }
            Mechanism::External => ("EXTERNAL", String::new()),
            Mechanism::Anonymous => ("ANONYMOUS", String::new()),
        };
        if !offered.contains(&wanted) {
            return Err(ConnectionError::Mechanism { wanted, offered: offered.join(", ") });
        }
        self.phase = Phase::AwaitAuthentication;
        self.answer_challenge(wanted, &response);
        Ok(())
    }

    /// Logs in again with another token, on the open connection.
    pub(super) fn log_in_again(&mut self, token: &str) {
        let is_plain = self.login.mechanism == Mechanism::Plain;
        if self.phase != Phase::Open || !self.can_renew || !is_plain {
            return;
        }
        let response = format!("\0{}\0{token}", self.login.user);
        self.renewal = Some(self.answer_challenge("PLAIN", &response));
    }

    fn answer_challenge(&mut self, mechanism: &str, response: &str) -> u32 {
        self.ask(SASL_AUTHENTICATE, |out| {
            out.put_text(mechanism);
            out.put_u32(u32::try_from(response.len()).unwrap_or(0));
            out.extend_from_slice(response.as_bytes());
        })
    }

    /// Agrees on the smaller limits. 0 is no limit.
    fn on_tune(&mut self, frame_max: u32, heartbeat: u32) {
        self.frame_max = if frame_max == 0 { FRAME_MAX } else { frame_max.min(FRAME_MAX) };
        let seconds = self.login.heartbeat_seconds.unwrap_or(heartbeat);
        self.heartbeat.interval = (seconds > 0).then(|| Duration::from_secs(seconds.into()));
        let frame_max = self.frame_max;
        write_frame(self.output.end(), TUNE, |out| {
            out.put_u32(frame_max);
            out.put_u32(seconds);
        });
        self.phase = Phase::AwaitOpen;
        let vhost = self.login.vhost.clone();
        self.ask(OPEN, |out| out.put_text(&vhost));
        // The password is not needed any more.
        self.login.password = String::new();
    }
}

/// Takes number and code of an answer. A code other than success is an error.
fn accepted(
    content: &mut Reader<'_>,
    refused: impl FnOnce(Code) -> ConnectionError,
) -> Result<(), ConnectionError> {
    content.u32()?;
    let code = Code(content.u16()?);
    if code == Code::OK { Ok(()) } else { Err(refused(code)) }
}
