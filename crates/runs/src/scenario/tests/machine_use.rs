//! The list of keys that reach the machine is complete, and finds the uses in a scenario.

use std::collections::BTreeSet;

use super::{SMALL, read};
use crate::scenario::{
    Reach,
    machine_use::{is_listed, patterns},
};

/// Keys, by table, that only affect the broker: no file, secret, process or address of the machine.
const ON_THE_BROKER: &[(&str, &str)] = &[
    ("", "name description seed"),
    (
        "broker",
        "allocation connect-timeout connect-parallel connect-rate startup-timeout nodelay send-buffer receive-buffer \
         recovery recovery-delay recovery-max-delay recovery-timeout",
    ),
    (
        "run",
        "duration until idle-time empty-timeout start-at warm-up verify trace-every step self-check stop-on-failure \
         latency-by-queue queue-depths",
    ),
    ("exchanges.*", "name type durable auto-delete internal predeclared if-missing keep arguments"),
    ("exchanges.*.bindings.*", "exchange routing-key arguments"),
    (
        "queues.*",
        "name from to names partitions server-named type durable exclusive auto-delete predeclared if-missing bind-existing keep \
         prefill prefill-size arguments",
    ),
    ("queues.*.bindings.*", "exchange routing-key arguments"),
    (
        "publishers.*",
        "name protocol mqtt-version qos topic-alias topic topics count connections connections-of channels queue exchange routing-key member-queues from to routing-keys \
         random-routing-keys key-shares key-exponent size body json-bodies json-fields items-per-message compression compression-level \
         persistent confirms confirm-window confirm-timeout on-confirm-timeout republish-unconfirmed reference sub-entry-size filter-values write tx-size \
         mandatory rate interval arrival after-phases late messages start-delay random-start-delay",
    ),
    ("publishers.*.sizes.*", "size for"),
    ("publishers.*.size-shares.*", "size share"),
    ("publishers.*.property-shares.*", "share"),
    (
        "publishers.*.property-shares.*.properties",
        "content-type content-encoding delivery-mode priority correlation-id reply-to expiration message-id timestamp \
         type user-id app-id cluster-id subject group-id headers",
    ),
    ("publishers.*.phases.*", "for rate to burst every"),
    (
        "publishers.*.properties",
        "content-type content-encoding delivery-mode priority correlation-id reply-to expiration message-id timestamp \
         type user-id app-id cluster-id subject group-id headers",
    ),
    (
        "consumers.*",
        "name protocol mqtt-version qos topics credit consumer-name store-every single-active-consumer super-stream \
         filter-values match-unfiltered count connections connections-of channels queue member-queues prefetch channel-prefetch auto-ack multi-ack-every nack \
         nack-share requeue requeue-share tx-size rate processing-time concurrency polling poll-interval priority offset exclusive unpack messages \
         start-delay slow-start arguments",
    ),
    ("consumers.*.processing-times.*", "time for"),
    ("consumers.*.processing-time-shares.*", "time share"),
    ("consumers.*.filter", "properties headers sql"),
    ("consumers.*.forward", "queue exchange routing-key size persistent share"),
    (
        "requests.*",
        "name count connections channels queue reply size persistent write concurrency rate arrival after-phases \
         messages timeout",
    ),
    ("requests.*.phases.*", "for rate to burst every"),
    ("responders.*", "name count connections channels queue prefetch auto-ack size write"),
    (
        "churn.*",
        "name kind concurrency connections rate hold cycles type durable exclusive auto-delete queue exchange arguments",
    ),
];

/// Returns the keys of the table at `path`, as the refusal of an unknown key lists them. Absent if it is no table of
/// known keys.
fn keys_of(path: &str) -> Option<Vec<String>> {
    let unknown = format!("{path}zzzz=1");
    let refusal = read("", &[&unknown]).unwrap_err();
    let list = refusal.reason.strip_prefix("is an unknown key; allowed are ")?;
    assert!(refusal.key.ends_with("zzzz"), "{refusal}");
    let names = list.split(';').next()?.split(", ");
    Some(names.map(|name| name.trim_matches('`').to_owned()).collect())
}

/// Collects every key of a scenario; indexes of lists are `*`.
fn all_keys(path: &str, found: &mut Vec<String>) {
    for name in keys_of(path).unwrap() {
        let key = format!("{path}{name}");
        let tables = [format!("{key}."), format!("{key}.0.")];
        match tables.iter().find(|table| keys_of(table).is_some()) {
            Some(table) => all_keys(table, found),
            None => found.push(key.replace(".0.", ".*.")),
        }
    }
}

#[test]
fn every_key_is_known_to_reach_the_machine_or_not() {
    let mut keys = Vec::new();
    all_keys("", &mut keys);
    assert!(keys.len() > 150, "{keys:?}");
    let stays = |key: &str| {
        // Limits of measured values.
        if key.starts_with("expect.") {
            return true;
        }
        let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
        let mut tables = ON_THE_BROKER.iter().filter(|(of, _)| *of == table);
        tables.any(|(_, names)| names.split_whitespace().any(|listed| listed == name))
    };
    let (mut unknown, mut twice) = (Vec::new(), Vec::new());
    for key in &keys {
        match (is_listed(key), stays(key)) {
            (false, false) => unknown.push(key),
            (true, true) => twice.push(key),
            _ => {}
        }
    }
    assert!(
        unknown.is_empty() && twice.is_empty(),
        "say in scenario/machine_use.rs what of the machine these reach, or here that they do not: {unknown:?}; in both \
         lists: {twice:?}"
    );
    for pattern in patterns() {
        assert!(keys.iter().any(|key| key.starts_with(pattern)), "no key is {pattern}");
    }
}

#[track_caller]
fn check(overrides: &[&str], expected: &[(&str, Reach)]) {
    let uses = read(SMALL, overrides).unwrap().machine_uses();
    let found: Vec<_> = uses.iter().map(|one| (one.key.as_str(), one.reach)).collect();
    assert_eq!(found, expected);
}

#[test]
fn what_a_scenario_names_is_found() {
    check(&[], &[("broker", Reach::Process)]);
    let there = "broker.uri=amqps://h";
    check(&[there, "broker.auth=plain"], &[("broker.uri", Reach::Broker)]);
    let token = ["broker.auth=token", "broker.token-file=t", "broker.tls.verify=false", there];
    let expected = [
        ("broker.uri", Reach::Broker),
        ("broker.auth", Reach::Login),
        ("broker.token-file", Reach::LoginFile),
        ("broker.tls.verify", Reach::Login),
    ];
    check(&token, &expected);
    let second =
        ["publishers.1.queue=q", "publishers.1.body-files=[\"b\"]", "broker.uris=[\"amqp://h\"]"];
    let expected = [("broker.uri", Reach::Broker), ("publishers.1.body-files", Reach::SentFile)];
    check(&second, &expected);
}

/// A key of the list without a case here would be untested.
#[test]
fn every_key_of_the_list_is_found_where_it_is_given() {
    let there = "broker.uris=[\"amqps://a\", \"amqps://b\"]";
    let scenarios: &[&[&str]] = &[
        &["broker.uri=amqps://h", "broker.tls.server-name=n"],
        &[there, "broker.auth=token", "broker.token-file=t", "broker.tls.verify=false"],
        &["broker.nodes=2", "broker.cluster=false"],
        &["broker.patches=[\"p.erl\"]", "broker.modules=[\"m.erl\"]"],
        &[there, "broker.tls.ca=c", "broker.tls.cert=c", "broker.tls.key=k"],
        &[
            "broker.nodes=2",
            "broker.plugins=[\"rabbitmq_shovel\"]",
            "broker.plugins-directory=d",
            "broker.config=c",
            "broker.advanced-config=[].",
            "broker.erl-args=+S 1",
            "broker.root=/r",
            "broker.environment.A=b",
            "broker.policies=[{ name = \"p\", pattern = \".*\", definition = \"{}\" }]",
            "broker.parameters=[{ component = \"shovel\", name = \"s\", value = \"{}\" }]",
            "faults=[{ kind = \"kill\", at = \"1s\", node = 1 }]",
            "profile.duration=1s",
            "packets.duration=1s",
            "pollers=[{ url = \"http://h/\" }]",
            "publishers.0.body-files=[\"b\"]",
        ],
    ];
    let mut found = BTreeSet::new();
    for overrides in scenarios {
        let uses = read(SMALL, overrides).unwrap().machine_uses();
        found.extend(uses.into_iter().map(|one| one.key.replace(".0.", ".*.")));
    }
    // Its names are in the scenario after reading.
    found.insert("queues.*.names-file".to_owned());
    let missing: Vec<_> = patterns().filter(|pattern| !found.contains(*pattern)).collect();
    assert!(missing.is_empty(), "{missing:?} of {found:?}");
}

/// The caller must say how to read files that become part of a scenario.
#[test]
fn a_list_in_a_file_is_not_read_by_itself() {
    let refusal = read(SMALL, &["queues.0.names-file=/etc/passwd"]).unwrap_err().to_string();
    assert!(refusal.contains("no file can be read here"), "{refusal}");
}
