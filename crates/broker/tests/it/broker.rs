//! Throwaway brokers: they serve, they are private, and they leave nothing.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rabbitscope_broker::{Broker, BrokerError};
use rabbitscope_data::scenario::ThrowawayBroker;

/// Every plugin of the distribution that opens a port, directly or through another.
const LISTENING: [&str; 8] = [
    "rabbitmq_management",
    "rabbitmq_prometheus",
    "rabbitmq_stream",
    "rabbitmq_stream_management",
    "rabbitmq_mqtt",
    "rabbitmq_stomp",
    "rabbitmq_web_mqtt",
    "rabbitmq_web_stomp",
];

fn log(test: &str) -> PathBuf {
    std::env::temp_dir().join(format!("rabbitscope-{test}-{}.log", std::process::id()))
}

#[test]
fn it_serves_as_configured_and_leaves_nothing() {
    let log = log("serves");
    let spec = ThrowawayBroker {
        plugins: LISTENING.map(str::to_owned).into(),
        plugins_directory: String::new(),
        config: "channel_max = 77".to_owned(),
        advanced_config: "[{rabbit, [{credit_flow_default_credit, {7, 3}}]}].".to_owned(),
        erl_args: "+S 1".to_owned(),
    };
    let broker = Broker::start(&spec, &log).unwrap();
    let check = |expression: &str, expected: &str| {
        assert_eq!(broker.eval(expression).unwrap(), expected, "{expression}");
    };
    check("rabbit:is_running()", "true");
    check("application:get_env(rabbit, channel_max)", "{ok,77}");
    check("application:get_env(rabbit, credit_flow_default_credit)", "{ok,{7,3}}");
    check("erlang:system_info(schedulers)", "1");
    check("X = <<195, 169>>, {X, whereis(init), \"a\\n\"}.", r#"{<<"é"/utf8>>,<0.0.0>,"a\n"}"#);
    check("length(rabbit_plugins:active()) >= 8.", "true");
    assert!(matches!(broker.eval("nonsense("), Err(BrokerError::Eval { .. })));

    assert_reachable_from_here_only(broker.pid);
    assert_cookie_is_secret(&broker.directory);

    let directory = broker.directory.clone();
    let began = Instant::now();
    broker.stop();
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert!(!directory.exists());
    assert_eq!(processes_of(&directory), [0; 0]);
    assert!(fs::read_to_string(&log).unwrap().contains("Server startup complete"));
    fs::remove_file(log).unwrap();
}

/// All sockets that the node or its port mapper listen on are bound to loopback.
fn assert_reachable_from_here_only(pid: u32) {
    let listening = listening_addresses(pid);
    assert!(listening.len() >= LISTENING.len(), "{listening:?}");
    for address in listening {
        assert!(address.ends_with("0100007F"), "listens on {address}");
    }
}

/// Local addresses, as `/proc/net/tcp` and `tcp6` write them, of the sockets that a process listens
/// on.
fn listening_addresses(pid: u32) -> Vec<String> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let links: Vec<String> = descriptors
        .filter_map(|entry| fs::read_link(entry.unwrap().path()).ok())
        .map(|link| link.display().to_string())
        .collect();
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|file| fs::read_to_string(file).unwrap());
    tables
        .iter()
        .flat_map(|table| table.lines())
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|fields| fields[3] == "0A" && links.contains(&format!("socket:[{}]", fields[9])))
        .map(|fields| fields[1].split(':').next().unwrap().to_owned())
        .collect()
}

fn assert_cookie_is_secret(directory: &Path) {
    let file = directory.join("home/.erlang.cookie");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(directory), mode(&file)), (0o700, 0o600));
    let cookie = fs::read_to_string(&file).unwrap();
    assert!(cookie.len() >= 32);
    for pid in processes_of(directory) {
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&arguments).contains(&cookie), "process {pid}");
    }
}

/// Processes with the directory anywhere in their environment or arguments.
fn processes_of(directory: &Path) -> Vec<u32> {
    let directory = directory.display().to_string();
    let mentions = |pid: u32, file: &str| {
        fs::read(format!("/proc/{pid}/{file}"))
            .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(&directory))
    };
    let entries = fs::read_dir("/proc").unwrap();
    entries
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
        .filter(|&pid| mentions(pid, "environ") || mentions(pid, "cmdline"))
        .collect()
}

#[test]
fn the_log_is_complete_also_of_a_short_life() {
    let log = log("short");
    Broker::start(&ThrowawayBroker::default(), &log).unwrap().stop();
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.contains("started TCP listener"), "{text}");
    fs::remove_file(log).unwrap();
}

#[test]
fn a_broker_that_cannot_start_says_why_and_leaves_nothing() {
    let log = log("fails");
    let spec = ThrowawayBroker { config: "no_such_key = 1".to_owned(), ..Default::default() };
    let error = Broker::start(&spec, &log).unwrap_err();
    assert!(matches!(error, BrokerError::Died { .. }), "{error}");
    assert!(error.to_string().contains("no_such_key"), "{error}");
    let _ = fs::remove_file(log);
}
