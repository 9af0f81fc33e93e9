//! URIs: read or refused, and shown without the password.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rabbitscope_amqp::Uri;

const SECRET: &str = "s3cr3t-p4ssw0rd";

fuzz_target!(|text: &str| {
    read(text);
    for scheme in ["amqp", "amqps"] {
        read(&format!("{scheme}://{text}"));
        read(&format!("{scheme}://user:{SECRET}@{text}"));
        read(&format!("{scheme}://user:{SECRET}{text}@host"));
    }
});

fn read(text: &str) {
    let shown = match Uri::parse(text) {
        Ok(uri) => {
            let shown = format!("{uri} {uri:?}");
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
            if uri.host.chars().all(is_plain) {
                let again = Uri::parse(&uri.to_string()).expect("what is shown can be read");
                assert_eq!(
                    (&again.user, &again.host, again.port, &again.vhost, again.is_tls),
                    (&uri.user, &uri.host, uri.port, &uri.vhost, uri.is_tls)
                );
            }
            if uri.user.contains(SECRET) || uri.host.contains(SECRET) || uri.vhost.contains(SECRET)
            {
                return;
            }
            shown
        }
        Err(error) => format!("{error} {error:?}"),
    };
    // In an error the name of an unknown parameter is shown; it is no password.
    let in_query = text.split_once('?').is_some_and(|(_, query)| query.contains(SECRET));
    assert!(in_query || !shown.contains(SECRET), "{shown}");
}
