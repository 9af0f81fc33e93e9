//! Throwaway brokers serve, stay private, and leave nothing.

use std::{
    collections::HashSet,
    fs,
    io::{Read, Write},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rabbitscope_broker::{Broker, BrokerError};
use rabbitscope_runs::scenario::ThrowawayBroker;
use rabbitscope_testing::{Workbench, processes_showing};

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

#[test]
fn it_serves_as_configured_and_leaves_nothing() {
    let place = Workbench::new("broker");
    let log = place.path("broker.log");
    let spec = ThrowawayBroker {
        plugins: LISTENING.map(str::to_owned).into(),
        plugins_directory: String::new(),
        config: "channel_max = 77\nlog.file.level = debug".to_owned(),
        advanced_config: "[{rabbit, [{credit_flow_default_credit, {7, 3}}]}].".to_owned(),
        erl_args: "+S 1".to_owned(),
        ..ThrowawayBroker::default()
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
    assert_answers_together(&broker);
    assert_modules_were_loaded_together(&broker);

    assert_reachable_from_here_only(broker.pid);
    assert_each_has_a_port_of_its_own(&broker);
    assert_only_the_password_logs_in(&broker);
    assert_secret(&broker.directory, &broker.directory.join("home/.erlang.cookie"));

    let directory = broker.directory.clone();
    let began = Instant::now();
    broker.stop();
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert!(!directory.exists());
    assert_eq!(processes_showing(directory.display()), [0; 0]);
    assert!(fs::read_to_string(&log).unwrap().contains("Server startup complete"));
}

/// All listening sockets of the node are bound to loopback.
fn assert_reachable_from_here_only(pid: u32) {
    let listening = listening_addresses(pid);
    assert!(listening.len() >= LISTENING.len(), "{listening:?}");
    for address in listening {
        assert!(address.ends_with("0100007F"), "listens on {address}");
    }
}

/// Addresses of a process's listening sockets, as `/proc/net/tcp` and `tcp6` write them.
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

/// Expressions are answered concurrently, although a node takes one connection for each name.
fn assert_answers_together(broker: &Broker) {
    let ask = || broker.eval("timer:sleep(300), done").unwrap();
    thread::scope(|scope| {
        let asked = [0; 4].map(|_| scope.spawn(ask));
        assert_eq!(asked.map(|asked| asked.join().unwrap()), ["done"; 4]);
    });
}

/// Each protocol has its own port and answers there.
fn assert_each_has_a_port_of_its_own(broker: &Broker) {
    let port_of = |protocol: &str| {
        let found = broker.listeners.iter().find(|listener| listener.protocol == protocol);
        found.unwrap_or_else(|| panic!("{protocol} is not in {:?}", broker.listeners)).port
    };
    let protocols = ["amqp", "mqtt", "stomp", "stream", "http/web-mqtt", "http/prometheus"];
    let ports: HashSet<u16> = protocols.map(port_of).into();
    assert_eq!(ports.len(), protocols.len(), "{:?}", broker.listeners);
    assert_eq!(broker.management_port(), Some(port_of("http")));
    for port in ports {
        TcpStream::connect(("127.0.0.1", port)).unwrap();
    }
    let stomp = exchange(port_of("stomp"), b"CONNECT\naccept-version:1.2\nhost:/\n\n\0");
    assert!(stomp.starts_with(b"ERROR"), "no login: {}", String::from_utf8_lossy(&stomp));
    // MQTT 3.1.1 without a user (clean session, keep alive 60 s, client `x`); the second byte of the
    // answer's variable header is the return code.
    let mqtt = exchange(port_of("mqtt"), b"\x10\x0d\0\x04MQTT\x04\x02\0\x3c\0\x01x");
    assert!(mqtt.first() == Some(&0x20) && mqtt[3] != 0, "no login: {mqtt:?}");
}

/// Returns the first bytes of the answer, none when the connection is closed.
fn exchange(port: u16, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = [0; 1024];
    let length = stream.read(&mut answer).unwrap();
    answer[..length].to_vec()
}

/// The node has evaluated the text that loads the modules: it still can, and finds them loaded.
fn assert_modules_were_loaded_together(broker: &Broker) {
    let path = "hd(hd(element(2, init:get_argument(rabbitscope_modules))))";
    let loaded = broker.eval(&format!("file:script({path})")).unwrap();
    let scans_all = "{ok, {_, [{imports, Called}]}} = beam_lib:chunks(code:which(rabbit_boot_steps), [imports]), \
        lists:member({rabbit_misc, all_module_attributes, 1}, Called)";
    let scans_all = broker.eval(scans_all).unwrap();
    assert_eq!(loaded, if scans_all == "true" { "{ok,ok}" } else { "{ok,not_needed}" });
}

/// The well-known `guest:guest` is refused; the password has 128 random bits, which no other user sees.
fn assert_only_the_password_logs_in(broker: &Broker) {
    let (user, password) = broker.login();
    assert!(password.len() >= 32 && broker.uri().contains(password));
    assert!(!format!("{broker:?}").contains(password));
    let check = |password: &str, expected: &str| {
        let login = "rabbit_access_control:check_user_pass_login";
        let answer =
            broker.eval(&format!("element(1, {login}(<<\"{user}\">>, <<\"{password}\">>))"));
        assert_eq!(answer.unwrap(), expected);
    };
    check(password, "ok");
    check("guest", "refused");
    let directory = &broker.directory;
    for file in ["rabbitmq.conf", "node.json"] {
        let text = fs::read_to_string(directory.join(file)).unwrap();
        assert!(text.contains(password), "{file}");
        assert_private(directory, &directory.join(file));
    }
    assert_in_no_process(directory, password);
    let log = fs::read_to_string(&broker.log).unwrap();
    assert!(log.contains("[debug]") && !log.contains(password));
}

fn assert_secret(directory: &Path, file: &Path) {
    assert_private(directory, file);
    let secret = fs::read_to_string(file).unwrap();
    assert!(secret.len() >= 32);
    assert_in_no_process(directory, &secret);
}

fn assert_private(directory: &Path, file: &Path) {
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(directory), mode(file)), (0o700, 0o600), "{}", file.display());
}

/// No process of the broker has the secret in its arguments or its environment.
fn assert_in_no_process(directory: &Path, secret: &str) {
    let pids = processes_showing(directory.display());
    assert!(pids.len() >= 3, "guard, port mapper, node: {pids:?}");
    for pid in pids {
        for file in ["cmdline", "environ"] {
            let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&bytes).contains(secret), "{file} of {pid}");
        }
    }
}

#[test]
fn a_password_that_was_configured_is_the_one_of_the_uri() {
    let place = Workbench::new("broker");
    let spec = ThrowawayBroker {
        config: "default_user = me".to_owned(),
        advanced_config: "[{rabbit, [{default_pass, <<\"a/b\">>}]}].".to_owned(),
        ..Default::default()
    };
    let broker = Broker::start(&spec, &place.path("broker.log")).unwrap();
    assert_eq!(broker.login(), ("me", "a/b"));
    assert!(broker.uri().starts_with("amqp://me:a%2Fb@127.0.0.1:"), "{}", broker.uri());
}

#[test]
fn a_broker_that_others_can_reach_is_ended() {
    let place = Workbench::new("broker");
    let log = place.path("broker.log");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let examples = |listener: &str| ThrowawayBroker {
        plugins: vec!["rabbitmq_web_mqtt_examples".to_owned()],
        advanced_config: format!(
            "[{{rabbitmq_web_mqtt_examples, [{{listener, [{{port, {port}}}{listener}]}}]}}]."
        ),
        ..Default::default()
    };
    let stomp = ThrowawayBroker {
        plugins: vec!["rabbitmq_stomp".to_owned()],
        config: format!("stomp.listeners.tcp.2 = 0.0.0.0:{port}"),
        ..Default::default()
    };
    for spec in [examples(""), stomp] {
        let error = Broker::start(&spec, &log).unwrap_err();
        assert!(matches!(error, BrokerError::Exposed { .. }), "{error}");
        assert!(error.to_string().contains(&format!(":{port}; set that listener")), "{error}");
        // The port is free again, and may have a new owner by now.
        assert_eq!(processes_showing(log.display()), [0; 0]);
    }
    let tamed = Broker::start(&examples(", {ip, \"127.0.0.1\"}"), &log).unwrap();
    assert!(tamed.listeners.iter().any(|listener| listener.port == port), "{:?}", tamed.listeners);
}

#[test]
fn the_log_is_complete_also_of_a_short_life() {
    let place = Workbench::new("broker");
    let log = place.path("broker.log");
    Broker::start(&ThrowawayBroker::default(), &log).unwrap().stop();
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.contains("started TCP listener"), "{text}");
}

#[test]
fn a_broker_that_cannot_start_says_why_and_leaves_nothing() {
    let place = Workbench::new("broker");
    let log = place.path("broker.log");
    let spec = ThrowawayBroker { config: "no_such_key = 1".to_owned(), ..Default::default() };
    let error = Broker::start(&spec, &log).unwrap_err();
    assert!(matches!(error, BrokerError::Died { .. }), "{error}");
    assert!(error.to_string().contains("no_such_key"), "{error}");
}
