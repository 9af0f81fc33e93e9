//! Removes secrets from texts of the node before they are shown. The node redacts them already
//! (`agent/requests/secrets.erl`); this second check covers its gaps.

const REPLACED: &str = "[redacted]";

/// Returns the text without the cookie, and without user and password in addresses.
pub(super) fn scrubbed(text: String, cookie: &[u8]) -> String {
    let without_cookie = match std::str::from_utf8(cookie) {
        Ok(cookie) if cookie.len() >= 4 && text.contains(cookie) => text.replace(cookie, REPLACED),
        _ => text,
    };
    if without_cookie.contains("://") { without_logins(&without_cookie) } else { without_cookie }
}

fn without_logins(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        shown.extend([before, "://"]);
        // A password may have an `@`, so the last one ends it.
        let end = after.find([' ', '"', '\'', '<', '>']).unwrap_or(after.len());
        rest = match after[..end].rfind('@') {
            Some(at) => {
                shown.push_str(REPLACED);
                &after[at..]
            }
            None => after,
        };
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_and_the_cookie() {
        let check = |text: &str, expected: &str| {
            assert_eq!(scrubbed(text.to_owned(), b"COOKIE"), expected);
        };
        check("[<<\"amqp://u:p@h:5672/v\">>]", "[<<\"amqp://[redacted]@h:5672/v\">>]");
        check(
            "amqp://u:p@p@h http://h/x amqps://a@b",
            "amqp://[redacted]@h http://h/x amqps://[redacted]@b",
        );
        check("rabbit@h COOKIE://", "rabbit@h [redacted]://");
        check("<<\"plain\">>", "<<\"plain\">>");
    }
}
