//! Pollers: their meaning, and the refusals of invalid ones.

use std::time::Duration;

use super::*;

const POLLING: &str = r#"
name = "polling"
[run]
duration = "10s"
[broker]
plugins = ["rabbitmq_management"]
[[pollers]]
url = "/api/queues"
"#;

#[track_caller]
fn refused(overrides: &[&str], expected: &[&str]) {
    let message = read(POLLING, overrides).unwrap_err().to_string();
    for part in expected {
        assert!(message.contains(part), "{overrides:?}: `{part}` is not in: {message}");
    }
}

#[test]
fn pollers_have_defaults() {
    let group = read(POLLING, &[]).unwrap().pollers[0].clone();
    assert_eq!((group.name.as_str(), group.count), ("pollers-0", 1));
    assert_eq!((group.interval, group.timeout), (Duration::from_secs(1), Duration::from_secs(10)));
    assert_eq!((group.user, group.ca, group.insecure), (None, None, false));
}

#[test]
fn a_password_is_named_and_not_given() {
    let set = ["pollers.0.user=me", "pollers.0.password-env=SECRET"];
    let group = read(POLLING, &set).unwrap().pollers[0].clone();
    assert_eq!(group.password_env.as_deref(), Some("SECRET"));
    refused(&["pollers.0.url=http://me:secret@host/"], &["pollers.0.url", "password-env"]);
    let message = read(POLLING, &["pollers.0.url=http://me:secret@host/"]).unwrap_err();
    assert!(!message.to_string().contains("secret"), "{message}");
}

#[test]
fn pollers_that_cannot_be_are_refused() {
    refused(&["pollers.0.url=api"], &["pollers.0.url", "http://"]);
    refused(&["broker.plugins=[]"], &["pollers.0.url", "rabbitmq_management"]);
    refused(&["pollers.0.url=https:///x"], &["pollers.0.url", "no host"]);
    refused(&["pollers.0.interval=1us"], &["pollers.0.interval", "1ms"]);
    refused(&["pollers.0.count=1000"], &["pollers.0.count", "256"]);
    refused(&["pollers.0.name=a/b"], &["pollers.0.name", "letters"]);
    refused(&["pollers.0.user=me"], &["pollers.0.user", "password-env"]);
    refused(&["pollers.0.password-file=f"], &["pollers.0.user", "missing"]);
    refused(&["pollers.0.insecure=true"], &["pollers.0.insecure", "https"]);
    let both = ["pollers.0.url=https://h/", "pollers.0.insecure=true", "pollers.0.ca=f.pem"];
    refused(&both, &["pollers.0.ca", "insecure"]);
}
