//! The user of a throwaway broker, and its URI.

use std::fmt::{self, Write};

use serde::{Deserialize, Serialize};

/// A user of the broker. No message and no debug output has its password.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: String,
}

impl Login {
    /// The user that a new node makes, with a password of this node only. RabbitMQ lets `guest` in from this machine
    /// alone; the password keeps out the machine's other users.
    pub(crate) fn guest(password: String) -> Self {
        Self { user: "guest".to_owned(), password }
    }

    /// Returns `USER:PASSWORD`, encoded for a URI.
    pub(crate) fn encoded(&self) -> String {
        format!("{}:{}", encode(&self.user), encode(&self.password))
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

fn encode(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_can_carry_it_and_a_message_does_not() {
        let login = Login::guest("a/b@c%é".to_owned());
        assert_eq!(login.encoded(), "guest:a%2Fb%40c%25%C3%A9");
        assert_eq!(format!("{login:?}"), r#"Login { user: "guest", .. }"#);
    }
}
