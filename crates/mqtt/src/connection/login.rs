//! The login: `CONNECT`. `answer.rs` handles the broker's answer.

use rabbitscope_protocol::Write as _;

use crate::{
    codec::{Put as _, write_packet},
    protocol::{packets::CONNECT, properties::RECEIVE_MAXIMUM, version::Version},
};

/// Flags of `CONNECT`: no state is kept from an earlier connection; user name and password follow.
const CLEAN: u8 = 0x02;
const USER_AND_PASSWORD: u8 = 0xc0;

/// Interval of keep-alive in seconds if the login has none, as in other protocols of the broker.
const KEEP_ALIVE_SECONDS: u16 = 60;

/// The way of proving who the client is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mechanism {
    /// By user and password.
    #[default]
    Plain,
    /// By the certificate of the TLS connection.
    External,
    /// Not at all: as the user that the broker has for this.
    Anonymous,
}

/// The client's identity.
#[derive(Clone)]
pub struct Login {
    /// Version of the protocol.
    pub version: Version,
    /// User.
    pub user: String,
    /// Password, or an `OAuth2` token.
    pub password: String,
    /// Virtual host. The certificate of [`Mechanism::External`] chooses it by the broker's settings.
    pub vhost: String,
    /// The way of proving who the client is.
    pub mechanism: Mechanism,
    /// Client identifier. The broker ends another connection with the same one.
    pub client_id: String,
    /// Interval of keep-alive in seconds. 0 switches it off; absent: 60.
    pub keep_alive_seconds: Option<u16>,
    /// Messages that the broker may send without an acknowledgement; absent: the broker's own limit. MQTT 3.1.1 has
    /// no such number.
    pub receive_maximum: Option<u16>,
}

/// Hides the password.
impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login")
            .field("version", &self.version)
            .field("user", &self.user)
            .field("vhost", &self.vhost)
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

impl Login {
    pub(super) fn keep_alive(&self) -> u16 {
        self.keep_alive_seconds.unwrap_or(KEEP_ALIVE_SECONDS)
    }

    /// Appends `CONNECT`. The virtual host precedes the user, as `RabbitMQ` reads it.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let is_plain = self.mechanism == Mechanism::Plain;
        write_packet(out, CONNECT, |out| {
            out.put_text("MQTT");
            out.push(self.version.level());
            out.push(if is_plain { CLEAN | USER_AND_PASSWORD } else { CLEAN });
            out.put_u16(self.keep_alive());
            self.write_properties(out);
            out.put_text(&self.client_id);
            if is_plain {
                out.put_text(&format!("{}:{}", self.vhost, self.user));
                out.put_text(&self.password);
            }
        });
    }

    fn write_properties(&self, out: &mut Vec<u8>) {
        match (self.version, self.receive_maximum) {
            (Version::V3, _) => {}
            (Version::V5, None) => out.push(0),
            (Version::V5, Some(most)) => {
                out.extend_from_slice(&[3, RECEIVE_MAXIMUM]);
                out.put_u16(most.max(1));
            }
        }
    }
}
