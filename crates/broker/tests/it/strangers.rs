//! A stranger, another user of the machine without the password, tries every port of a throwaway broker.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    process::{Command, Stdio},
};

use rabbitscope_broker::{Broker, Installation};
use rabbitscope_machine::sockets::listeners_of;
use rabbitscope_runs::scenario::ThrowawayBroker;
use rabbitscope_testing::is_root;

/// The client, in the order of its parts. `connections.py` describes its input and output.
const CLIENT: &str = concat!(
    include_str!("strangers/connections.py"),
    include_str!("strangers/messaging.py"),
    include_str!("strangers/asking.py")
);

/// The user id of `nobody`.
const STRANGER: &str = "65534";

/// Prefixes of plugins that need a configuration of their own. Examples are left out as well: without configuration
/// they listen beyond loopback, which ends the node.
const LEFT_OUT: [&str; 3] =
    ["rabbitmq_peer_discovery", "rabbitmq_auth_backend", "rabbitmq_trust_store"];

/// Libraries that stand beside the plugins.
const NO_PLUGINS: [&str; 3] = ["rabbitmq_prelaunch", "rabbitmq_cli", "rabbitmq_aws"];

/// Attempts that a node answers without a login, apart from static pages and `/metrics`.
const PUBLIC: [&str; 2] = ["epmd names", "epmd names at the end"];

/// Expression for the names of a node's users.
const USERS: &str =
    "[proplists:get_value(user, User) || User <- rabbit_auth_backend_internal:list_users()]";

/// Configuration that opens a login without password in each protocol that has one, with the keys of both releases.
const OPEN: &str = r#"[
    {rabbit, [{default_pass, <<"open">>}, {anonymous_login_user, <<"guest">>}, {anonymous_login_pass, <<"open">>}]},
    {rabbitmq_amqp1_0, [{default_user, "guest"}]},
    {rabbitmq_mqtt, [{allow_anonymous, true}, {default_user, <<"guest">>}, {default_pass, <<"open">>}]},
    {rabbitmq_stomp, [{implicit_connect, true}, {default_user, [{login, <<"guest">>}, {passcode, <<"open">>}]}]}
]."#;

/// One line of the client's output.
#[derive(Debug)]
struct Attempt {
    name: String,
    verdict: String,
    detail: String,
}

/// All attempts, and all bytes that the stranger received.
struct Visit {
    attempts: Vec<Attempt>,
    received: String,
}

impl Visit {
    fn with(&self, verdict: &str) -> BTreeSet<&str> {
        let with = self.attempts.iter().filter(|attempt| attempt.verdict == verdict);
        with.map(|attempt| &*attempt.name).collect()
    }

    /// Fails if attempts have this verdict, and prints them.
    #[track_caller]
    fn assert_none(&self, verdict: &str) {
        let found = self.attempts.iter().filter(|attempt| attempt.verdict == verdict);
        let found: Vec<String> =
            found.map(|attempt| format!("{}: {}", attempt.name, attempt.detail)).collect();
        assert!(found.is_empty(), "{verdict}:\n{}", found.join("\n"));
    }
}

/// Runs the client as another user, with or without the password and the cookie.
fn visit(broker: &Broker, knows_secrets: bool) -> Visit {
    let (user, password) = broker.login();
    let (home, distribution) = broker.distribution();
    let cookie = fs::read_to_string(home.join(".erlang.cookie")).unwrap();
    let secret = |secret: &str| {
        if knows_secrets { format!("\"{secret}\"") } else { "null".to_owned() }
    };
    let listeners: Vec<String> = broker
        .listeners
        .iter()
        .map(|listener| {
            format!("{{\"protocol\": \"{}\", \"port\": {}}}", listener.protocol, listener.port)
        })
        .collect();
    let given = format!(
        "{{\"node\": \"{}\", \"user\": \"{user}\", \"password\": {}, \"cookie\": {}, \
         \"listeners\": [{}], \"distribution\": {}, \"mapper\": {}}}",
        broker.node_name(),
        secret(password),
        secret(&cookie),
        listeners.join(", "),
        distribution.port(),
        broker.port_mapper()
    );
    let attempts = run_as_stranger(&given);
    let (lines, received) = attempts.split_once("== received\n").unwrap();
    let attempt = |line: &str| {
        let (name, said) = line.split_once(": ").unwrap();
        let (verdict, detail) = said.split_once(' ').unwrap_or((said, ""));
        let [name, verdict, detail] = [name, verdict, detail].map(str::to_owned);
        Attempt { name, verdict, detail }
    };
    Visit { attempts: lines.lines().map(attempt).collect(), received: received.to_owned() }
}

fn run_as_stranger(given: &str) -> String {
    let user = [format!("--reuid={STRANGER}"), format!("--regid={STRANGER}")];
    let mut command = Command::new("setpriv");
    command.args(user).args(["--clear-groups", "timeout", "120", "/usr/bin/python3", "-c"]);
    command.arg(CLIENT).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(given.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// All plugins that start without a configuration of their own, including those of later releases.
fn all_plugins() -> Vec<String> {
    let names = Installation::find().unwrap().plugin_names();
    let is_wanted = |name: &String| {
        name.starts_with("rabbitmq_")
            && !name.ends_with("_examples")
            && !name.ends_with("_common")
            && !LEFT_OUT.iter().any(|left_out| name.starts_with(left_out))
            && !NO_PLUGINS.contains(&&**name)
    };
    names.into_iter().filter(is_wanted).collect()
}

/// Every port of the node gets attempts, because `node.listeners` lacks none.
fn assert_no_other_port(broker: &Broker) {
    let mut known: BTreeSet<u16> = broker.listeners.iter().map(|listener| listener.port).collect();
    known.insert(broker.distribution().1.port());
    let ports = listeners_of(broker.pid).into_iter().map(|listener| listener.address.port());
    assert_eq!(ports.collect::<BTreeSet<u16>>(), known);
}

#[test]
fn no_protocol_admits_a_stranger() {
    if !is_root() {
        return;
    }
    let spec = ThrowawayBroker { plugins: all_plugins(), ..ThrowawayBroker::default() };
    let broker = Broker::start_with_own_log(&spec).unwrap();
    assert_no_other_port(&broker);
    let (stranger, friend) = (visit(&broker, false), visit(&broker, true));
    for visit in [&stranger, &friend] {
        visit.assert_none("forgotten");
        visit.assert_none("unclear");
    }
    stranger.assert_none("admitted");
    assert_eq!(broker.eval(USERS).unwrap(), "[<<\"guest\">>]");
    assert_password_admits(&broker, &friend);
    assert_no_secret_is_public(&broker, &stranger);
}

/// Every protocol with logins admits the password, so that a refusal has a meaning.
fn assert_password_admits(broker: &Broker, friend: &Visit) {
    let admitted = friend.with("admitted");
    let protocols =
        broker.listeners.iter().map(|listener| &*listener.protocol).chain(["distribution"]);
    for protocol in protocols.filter(|&protocol| protocol != "http/prometheus") {
        let prefix = format!("{protocol} ");
        let is_admitted = admitted.iter().any(|name| name.starts_with(&prefix));
        assert!(is_admitted, "{protocol}: {admitted:?}");
    }
    let unspoken: BTreeSet<&str> = if is_old(broker) {
        ["http/web-mqtt 5 the password", "mqtt 5 the password"].into()
    } else {
        ["amqp 0-8 PLAIN the password"].into()
    };
    assert_eq!(friend.with("refused"), unspoken);
}

/// Returns whether the node runs RabbitMQ 3.
fn is_old(broker: &Broker) -> bool {
    broker.eval("rabbit_misc:version()").unwrap().starts_with("\"3.")
}

/// Only pages, metrics and the names at the port mapper are public, and they hold no secret.
fn assert_no_secret_is_public(broker: &Broker, stranger: &Visit) {
    let public = stranger.with("public");
    let is_known = |name: &&str| {
        PUBLIC.contains(name)
            || name.starts_with("http/prometheus ")
            || name.starts_with("http page ")
    };
    assert!(public.iter().all(is_known), "{public:?}");
    assert!(stranger.received.contains("rabbitmq_build_info"), "no metrics were read");
    let (home, _) = broker.distribution();
    let cookie = fs::read_to_string(home.join(".erlang.cookie")).unwrap();
    for secret in [broker.login().1, &cookie] {
        assert!(!stranger.received.contains(secret), "a secret is public");
    }
}

/// The attempts without a login find a hole where there is one, and a scenario may open it.
#[test]
fn a_scenario_may_admit_strangers() {
    if !is_root() {
        return;
    }
    let spec = ThrowawayBroker {
        plugins: all_plugins(),
        advanced_config: OPEN.to_owned(),
        ..ThrowawayBroker::default()
    };
    let broker = Broker::start_with_own_log(&spec).unwrap();
    let stranger = visit(&broker, false);
    let admitted = stranger.with("admitted");
    for name in [
        "amqp 1.0 ANONYMOUS b'guest'",
        "mqtt 4 no user",
        "stomp SEND without connect",
        "http/web-mqtt 4 no user",
        "http/web-stomp CONNECT no login",
    ] {
        assert!(admitted.contains(name), "{name}: {admitted:?}");
    }
    let of_release = if is_old(&broker) { "amqp 1.0 without SASL" } else { "stream ANONYMOUS" };
    assert!(admitted.contains(of_release), "{of_release}: {admitted:?}");
}
