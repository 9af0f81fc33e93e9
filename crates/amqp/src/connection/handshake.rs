//! The methods of channel 0: start, tune, open, close, and alarms.

use std::time::Duration;

use super::state::{ClientIdentity, Connection, INITIAL_LIMITS, Limits, Phase};
use crate::{
    error::{ConnectionError, Refusal},
    event::Event,
    method::{Handshake, ServerMethod, write_handshake},
    protocol::reply_codes,
    table::{Table, Value},
};

/// First release of RabbitMQ that takes a new token on an open connection.
const RENEWING: (u32, u32) = (3, 8);

/// Extensions that RabbitMQ uses only with clients that announce them.
const CAPABILITIES: [&str; 6] = [
    "publisher_confirms",
    "consumer_cancel_notify",
    "exchange_exchange_bindings",
    "basic.nack",
    "connection.blocked",
    "authentication_failure_close",
];

impl Connection {
    pub(super) fn on_connection_method(
        &mut self,
        method: ServerMethod<'_>,
    ) -> Result<Option<Event<'static>>, ConnectionError> {
        match (self.phase, method) {
            (Phase::AwaitStart, ServerMethod::Start { version, properties, mechanisms }) => {
                self.on_start(version, properties, mechanisms)?;
            }
            (Phase::AwaitTune, ServerMethod::Tune { channel_max, frame_max, heartbeat }) => {
                self.on_tune(channel_max, frame_max, heartbeat);
            }
            (Phase::AwaitOpenOk, ServerMethod::OpenOk) => {
                self.phase = Phase::Open;
                return Ok(Some(Event::Opened));
            }
            (phase, ServerMethod::Close(refusal)) => {
                self.phase = Phase::Closed;
                write_handshake(self.output.end(), 0, &Handshake::CloseOk);
                return Err(closed_by(refusal, phase));
            }
            (Phase::Closing, ServerMethod::CloseOk) => {
                self.phase = Phase::Closed;
                return Ok(Some(Event::Closed));
            }
            (_, ServerMethod::Blocked { reason }) => return Ok(Some(Event::Blocked { reason })),
            (_, ServerMethod::Unblocked) => return Ok(Some(Event::Unblocked)),
            (_, ServerMethod::UpdateSecretOk) => self.renewed += 1,
            _ => return Err(ConnectionError::Unexpected { what: "a method", channel: 0 }),
        }
        Ok(None)
    }

    fn on_start(
        &mut self,
        (major, minor): (u8, u8),
        properties: Table,
        mechanisms: String,
    ) -> Result<(), ConnectionError> {
        if (major, minor) != (0, 9) {
            return Err(ConnectionError::Version { major, minor, revision: 0 });
        }
        let ClientIdentity { uri, name } = &*self.identity;
        let mechanism = uri.mechanism.name();
        if !mechanisms.split(' ').any(|offered| offered == mechanism) {
            return Err(ConnectionError::Mechanism { wanted: mechanism, offered: mechanisms });
        }
        self.can_renew = can_renew(&properties);
        self.server_properties = properties;
        let (properties, response) = (client_properties(name), uri.login());
        let start_ok = Handshake::StartOk {
            properties: &properties,
            mechanism,
            response: response.as_bytes(),
        };
        write_handshake(self.output.end(), 0, &start_ok);
        self.phase = Phase::AwaitTune;
        Ok(())
    }

    fn on_tune(&mut self, channel_max: u16, frame_max: u32, heartbeat: u16) {
        let wanted_channels = self.identity.uri.channel_max.unwrap_or(INITIAL_LIMITS.channel_max);
        let wanted_frame = self.identity.uri.frame_max.unwrap_or(INITIAL_LIMITS.frame_max);
        let channel_max = match (channel_max, wanted_channels) {
            (0, 0) => u16::MAX,
            (0, limit) | (limit, 0) => limit,
            (theirs, ours) => theirs.min(ours),
        };
        let frame_max = match (frame_max, wanted_frame) {
            (0, 0) => INITIAL_LIMITS.frame_max,
            (0, limit) | (limit, 0) => limit,
            (theirs, ours) => theirs.min(ours),
        };
        let seconds = self.identity.uri.heartbeat_seconds.unwrap_or(heartbeat);
        let interval = (seconds > 0).then(|| Duration::from_secs(u64::from(seconds)));
        self.limits = Limits { channel_max, frame_max, heartbeat: interval };
        self.heartbeat.interval = interval;
        let out = self.output.end();
        write_handshake(out, 0, &Handshake::TuneOk { channel_max, frame_max, heartbeat: seconds });
        write_handshake(out, 0, &Handshake::Open { vhost: &self.identity.uri.vhost });
        self.phase = Phase::AwaitOpenOk;
    }
}

/// Returns whether a broker with these properties knows `connection.update-secret`. Others close the connection.
fn can_renew(properties: &Table) -> bool {
    let text = |name| match properties.get(name) {
        Some(Value::Text(text)) => text.as_str(),
        _ => "",
    };
    let mut release = text("version").split('.').map(|number| number.parse::<u32>().unwrap_or(0));
    let release = (release.next().unwrap_or(0), release.next().unwrap_or(0));
    text("product") == "RabbitMQ" && release >= RENEWING
}

fn client_properties(name: &str) -> Table {
    let text = |text: &str| Value::Text(text.to_owned());
    let capabilities =
        CAPABILITIES.iter().map(|name| ((*name).to_owned(), Value::Bool(true))).collect();
    Table(vec![
        ("product".to_owned(), text("rabbitscope")),
        ("version".to_owned(), text(env!("CARGO_PKG_VERSION"))),
        ("platform".to_owned(), text("Rust")),
        ("connection_name".to_owned(), text(name)),
        ("capabilities".to_owned(), Value::Table(Table(capabilities))),
    ])
}

fn closed_by(refusal: Refusal, phase: Phase) -> ConnectionError {
    match phase {
        Phase::AwaitTune if refusal.code == reply_codes::ACCESS_REFUSED => {
            ConnectionError::AuthenticationRefused(refusal)
        }
        Phase::AwaitOpenOk
            if refusal.code == reply_codes::NOT_ALLOWED && refusal.text.contains("vhost") =>
        {
            ConnectionError::VhostRefused(refusal)
        }
        _ => ConnectionError::ClosedByBroker(refusal),
    }
}
