//! CONNECT: version, client id, and everything private behind it.

use super::{
    super::{
        framer::{Next, Ranges},
        sink::{FrameSink, SensitiveKind},
    },
    grammar::{Grammar, LEVEL_5, length_of},
    properties::{Property, Value, properties},
    state::{KEPT_MAX, State},
};

/// Number of bytes of a client id that are read.
const CLIENT_ID_MAX: u32 = 256;
/// Numbers of the properties that are read: Session Expiry Interval and Receive Maximum (section 3.1.2.11 of MQTT 5).
const SESSION_EXPIRY: u8 = 17;
const RECEIVE_MAXIMUM: u8 = 33;

impl Grammar {
    pub(super) fn connect_name(&mut self, rest: u32, bytes: &[u8]) -> Next {
        let name = length_of(bytes);
        let fixed = name + 4;
        match rest.checked_sub(fixed) {
            Some(rest) if matches!(name, 4 | 6) => self.read(State::Connect(rest), fixed as usize),
            _ => Next::Lost,
        }
    }

    /// Reads name, level and flags. Level and flags are kept; flags show a user and a password without their values.
    pub(super) fn connect(
        &mut self,
        rest: u32,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        let at = bytes.len().saturating_sub(4);
        self.level = bytes.get(at).copied();
        self.arguments.keep(bytes.get(at..at + 2).unwrap_or_default());
        match bytes {
            // Its properties, before the client id, may contain authentication data.
            [b'M', b'Q', b'T', b'T', LEVEL_5, ..] if rest > 0 => self.property_length(rest),
            [b'M', b'Q', b'T', b'T', LEVEL_5, ..] => self.hide(rest, ranges),
            [b'M', b'Q', b'T', b'T', ..] | [b'M', b'Q', b'I', b's', b'd', b'p', ..]
                if rest >= 2 =>
            {
                self.keep_limits(0, false);
                self.read(State::ClientId(rest - 2), 2)
            }
            _ => Next::Lost,
        }
    }

    /// Hides the properties: `length` of the next `rest` bytes.
    pub(super) fn properties_of_connect(
        &mut self,
        length: u32,
        rest: u32,
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        if rest - length < 2 {
            return self.hide(rest, ranges);
        }
        ranges.next(u64::from(length), SensitiveKind::Credentials);
        let read = if self.arguments.is_on() { length.min(KEPT_MAX) } else { 0 };
        let rest = rest - length;
        if read > 0 {
            return self.read(State::Properties { skip: length - read, rest }, read as usize);
        }
        self.keep_limits(0, false);
        self.state = State::ClientId(rest - 2);
        Next::Skip { bytes: u64::from(length), then: 2 }
    }

    /// Keeps the two limits among the properties, and nothing else of them.
    pub(super) fn read_properties_of_connect(
        &mut self,
        (skip, rest): (u32, u32),
        bytes: &[u8],
    ) -> Next {
        let (mut receive_maximum, mut expires_later) = (0, false);
        for property in properties(bytes) {
            match property {
                Property { number: RECEIVE_MAXIMUM, value: Value::Number(most) } => {
                    receive_maximum = u16::try_from(most).unwrap_or_default();
                }
                Property { number: SESSION_EXPIRY, value: Value::Number(seconds) } => {
                    expires_later = seconds > 0;
                }
                _ => {}
            }
        }
        self.keep_limits(receive_maximum, expires_later);
        self.state = State::ClientId(rest - 2);
        Next::Skip { bytes: u64::from(skip), then: 2 }
    }

    fn keep_limits(&mut self, receive_maximum: u16, expires_later: bool) {
        self.arguments.keep(&receive_maximum.to_be_bytes());
        self.arguments.keep(&[u8::from(expires_later)]);
    }

    pub(super) fn client_id(
        &mut self,
        rest: u32,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        let length = length_of(bytes);
        let Some(rest) = rest.checked_sub(length) else { return self.hide(rest, ranges) };
        let read = if self.arguments.is_on() { length.min(CLIENT_ID_MAX) } else { 0 };
        if read > 0 {
            return self.read(State::ClientIdText { skip: length - read, rest }, read as usize);
        }
        self.state = State::Credentials(rest);
        Next::Skip { bytes: u64::from(length), then: 0 }
    }

    pub(super) fn client_id_text(&mut self, (skip, rest): (u32, u32), bytes: &[u8]) -> Next {
        self.arguments.keep(bytes);
        self.state = State::Credentials(rest);
        Next::Skip { bytes: u64::from(skip), then: 0 }
    }
}
