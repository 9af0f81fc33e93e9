//! `amqp://user:password@host:port/vhost`, read like RabbitMQ's clients do; `amqps://` is the same over TLS.
//!
//! The password is never shown: neither `Debug` nor `Display` contains it.

use std::fmt;

use thiserror::Error;

/// Address, user and options of a connection to a broker.
#[derive(Clone, PartialEq, Eq)]
pub struct Uri {
    /// Host name or address, without brackets.
    pub host: String,
    /// True for `amqps://`: the caller has to provide TLS.
    pub is_tls: bool,
    /// TCP port; by default 5672, or 5671 with TLS.
    pub port: u16,
    /// User; by default `guest`.
    pub user: String,
    /// Virtual host; by default `/`.
    pub vhost: String,
    /// Requested heartbeat interval in seconds; 0 switches heartbeats off.
    pub heartbeat_seconds: Option<u16>,
    /// Requested limit of a frame in bytes.
    pub frame_max: Option<u32>,
    /// Requested limit of channel numbers.
    pub channel_max: Option<u16>,
    /// TCP port of the stream protocol; by default 5552, or 5551 with TLS.
    pub stream_port: u16,
    /// TCP port of MQTT; by default 1883, or 8883 with TLS.
    pub mqtt_port: u16,
    /// Authentication mechanism.
    pub mechanism: Mechanism,
    password: String,
}

/// Authentication mechanism (SASL).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mechanism {
    /// User and password, or a token in place of the password.
    #[default]
    Plain,
    /// Certificate of the TLS connection.
    External,
    /// No proof: the broker has a user for all that come so.
    Anonymous,
}

impl Mechanism {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::External => "EXTERNAL",
            Self::Anonymous => "ANONYMOUS",
        }
    }
}

/// An invalid URI. The error never quotes the URI, which may hold a password.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UriError {
    /// The scheme is neither `amqp://` nor `amqps://`.
    #[error("the broker's URI must start with `amqp://` or `amqps://`")]
    Scheme,
    /// The port is not a number, or out of range.
    #[error("the broker's URI has a port that is not a number from 1 to 65535")]
    Port,
    /// `%` without two hexadecimal digits, or not UTF-8.
    #[error("the {part} in the broker's URI is not percent-encoded correctly")]
    Encoding {
        /// Part of the URI.
        part: &'static str,
    },
    /// The virtual host contains a `/`.
    #[error("the virtual host in the broker's URI has a `/`: write it as `%2F`")]
    VhostSlash,
    /// A query parameter is unknown or has an invalid value.
    #[error(
        "the broker's URI has the parameter `{key}`: allowed are `heartbeat` (seconds), \
         `frame_max` (bytes, at least 4096 or 0), `channel_max`, `stream_port` and `mqtt_port`, each with a number"
    )]
    Parameter {
        /// Name of the parameter.
        key: String,
    },
    /// A string is longer than the 255 bytes that AMQP allows.
    #[error("the {part} in the broker's URI is longer than 255 bytes")]
    TooLong {
        /// Part of the URI.
        part: &'static str,
    },
}

impl Uri {
    /// Parses a URI. Missing parts get RabbitMQ's defaults.
    pub fn parse(text: &str) -> Result<Self, UriError> {
        let (is_tls, rest) = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("amqp") => (false, rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("amqps") => (true, rest),
            _ => return Err(UriError::Scheme),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = match rest.split_once('/') {
            Some((authority, path)) => (authority, Some(path)),
            None => (rest, None),
        };
        let (user_info, address) = match authority.rsplit_once('@') {
            Some((user_info, address)) => (Some(user_info), address),
            None => (None, authority),
        };
        let (user, password) = credentials(user_info)?;
        let (host, port) = host_and_port(address, if is_tls { 5671 } else { 5672 })?;
        let vhost = virtual_host(path)?;
        let mut uri = Self {
            host,
            is_tls,
            port,
            user,
            vhost,
            heartbeat_seconds: None,
            frame_max: None,
            channel_max: None,
            stream_port: if is_tls { 5551 } else { 5552 },
            mqtt_port: if is_tls { 8883 } else { 1883 },
            mechanism: Mechanism::Plain,
            password,
        };
        query.split('&').filter(|pair| !pair.is_empty()).try_for_each(|p| uri.parameter(p))?;
        Ok(uri)
    }

    /// Returns the response of the authentication mechanism.
    pub(crate) fn login(&self) -> String {
        match self.mechanism {
            Mechanism::Plain => format!("\0{}\0{}", self.user, self.password),
            // The certificate contains the user's name, or there is none.
            Mechanism::External | Mechanism::Anonymous => String::new(),
        }
    }

    /// Sets an `OAuth2` token for the login. RabbitMQ takes it as the password and reads the user from it.
    pub fn set_token(&mut self, token: &str) {
        self.user.clear();
        token.clone_into(&mut self.password);
    }

    /// Returns the password, or the token in place of it. Keep it out of logs.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Returns host and port, such as `localhost:5672`, without credentials.
    pub fn address(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    fn parameter(&mut self, pair: &str) -> Result<(), UriError> {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let refused = || UriError::Parameter { key: key.to_owned() };
        match key {
            "heartbeat" => self.heartbeat_seconds = Some(value.parse().map_err(|_| refused())?),
            "channel_max" => self.channel_max = Some(value.parse().map_err(|_| refused())?),
            "stream_port" | "mqtt_port" => {
                let port: std::num::NonZero<u16> = value.parse().map_err(|_| refused())?;
                let own =
                    if key == "mqtt_port" { &mut self.mqtt_port } else { &mut self.stream_port };
                *own = port.get();
            }
            "frame_max" => {
                let bytes: u32 = value.parse().map_err(|_| refused())?;
                if (1..4096).contains(&bytes) {
                    return Err(refused());
                }
                self.frame_max = Some(bytes);
            }
            _ => return Err(refused()),
        }
        Ok(())
    }
}

fn credentials(user_info: Option<&str>) -> Result<(String, String), UriError> {
    let Some(user_info) = user_info else {
        return Ok(("guest".to_owned(), "guest".to_owned()));
    };
    let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
    Ok((decode(user, "user")?, decode(password, "password")?))
}

fn host_and_port(address: &str, default: u16) -> Result<(String, u16), UriError> {
    let (host, port) = if let Some(bracketed) = address.strip_prefix('[') {
        let (host, rest) = bracketed.split_once(']').ok_or(UriError::Port)?;
        (host, rest.strip_prefix(':'))
    } else {
        match address.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (address, None),
        }
    };
    let port = match port {
        None | Some("") => default,
        Some(port) => port.parse().ok().filter(|number: &u16| *number > 0).ok_or(UriError::Port)?,
    };
    let host = if host.is_empty() { "localhost".to_owned() } else { decode(host, "host")? };
    Ok((host, port))
}

/// Decodes the virtual host. A missing or empty path means `/`, as RabbitMQ's own tools read `amqp://host/`.
fn virtual_host(path: Option<&str>) -> Result<String, UriError> {
    match path {
        None | Some("") => Ok("/".to_owned()),
        Some(path) if path.contains('/') => Err(UriError::VhostSlash),
        Some(path) => decode(path, "virtual host"),
    }
}

fn decode(text: &str, part: &'static str) -> Result<String, UriError> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(if byte == b'%' {
            let pair = bytes.next().zip(bytes.next()).and_then(|(high, low)| hex(high, low));
            pair.ok_or(UriError::Encoding { part })?
        } else {
            byte
        });
    }
    if decoded.len() > 255 {
        return Err(UriError::TooLong { part });
    }
    String::from_utf8(decoded).map_err(|_| UriError::Encoding { part })
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_tls { "amqps" } else { "amqp" };
        write!(f, "{scheme}://{}@{}", encode(&self.user), self.address())?;
        if self.vhost != "/" {
            write!(f, "/{}", encode(&self.vhost))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uri({self})")
    }
}

fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let digit = |half: u8| char::from(b"0123456789ABCDEF"[usize::from(half)]);
            encoded.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_defaults() {
        fn check(text: &str, expected: (&str, &str, &str, u16, &str)) {
            let uri = Uri::parse(text).unwrap();
            let parts = (&*uri.user, &*uri.password, &*uri.host, uri.port, &*uri.vhost);
            assert_eq!(parts, expected, "{text}");
        }
        check("amqp://", ("guest", "guest", "localhost", 5672, "/"));
        check("amqp://host", ("guest", "guest", "host", 5672, "/"));
        check("amqp://host/", ("guest", "guest", "host", 5672, "/"));
        check("AMQP://u:p@host:1234/v", ("u", "p", "host", 1234, "v"));
        check("amqp://u%3A:p%40%2F@host/%2Fv", ("u:", "p@/", "host", 5672, "/v"));
        check("amqp://u:p@[::1]:99/%2F", ("u", "p", "::1", 99, "/"));
        check("amqp://u@host", ("u", "", "host", 5672, "/"));
        check("amqps://u@host", ("u", "", "host", 5671, "/"));
        check("amqps://u@host:5672", ("u", "", "host", 5672, "/"));
    }

    #[test]
    fn parameters() {
        let uri = Uri::parse("amqp://h/v?heartbeat=10&frame_max=8192&channel_max=7").unwrap();
        assert_eq!(
            (uri.heartbeat_seconds, uri.frame_max, uri.channel_max),
            (Some(10), Some(8192), Some(7))
        );
    }

    #[test]
    fn refusals_say_what_is_allowed() {
        fn check(text: &str, expected: &str) {
            let message = Uri::parse(text).unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
        }
        check("http://host", "must start with `amqp://`");
        check("amqp:/host", "or `amqps://`");
        check("amqp://host:0", "from 1 to 65535");
        check("amqp://host:65536", "from 1 to 65535");
        check("amqp://host/a/b", "%2F");
        check("amqp://u:%zz@host", "password");
        check("amqp://host?colour=1", "`colour`");
        check("amqp://host?frame_max=100", "at least 4096");
    }

    #[test]
    fn the_password_is_never_shown() {
        let uri = Uri::parse("amqp://u:secret@host/v").unwrap();
        assert_eq!(uri.to_string(), "amqp://u@host:5672/v");
        assert!(!format!("{uri:?}").contains("secret"));
        let mut uri = Uri::parse("amqps://u:p@host/v").unwrap();
        uri.set_token("secret");
        assert_eq!(format!("{uri} {uri:?}"), "amqps://@host:5671/v Uri(amqps://@host:5671/v)");
        assert_eq!(uri.login(), "\0\0secret");
        let error = Uri::parse("amqp://u:secret@host:x").unwrap_err();
        assert!(!format!("{error:?} {error}").contains("secret"));
    }
}
