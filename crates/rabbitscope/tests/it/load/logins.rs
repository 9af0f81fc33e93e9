//! TLS and the authentication mechanisms, against the real broker.

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Stops, Workbench, add_user, broker_with, certificates, may_profile, node_options, permit,
    scenario::{Consumers, Publishers, Scenario},
    tls_listener, token, trust_tokens,
};
use rustix::process::Signal;

use crate::protocols::logins::Logins;

/// A run of a few messages that are all confirmed and consumed. `broker` is the section of the scenario.
fn scenario(broker: &str) -> Scenario {
    let publishers = Publishers::new("logins").messages(2000).confirm_window(100);
    Scenario::with_queue("logins")
        .publishers(publishers.size("10KiB"))
        .consumers(Consumers::new("logins").prefetch(100).messages(2000))
        .text(&format!("[broker]\n{broker}\n"))
}

/// Returns a broker with TLS, and the port.
fn tls_broker(bench: &Workbench) -> (Broker, u16) {
    let (listener, port) = tls_listener(&bench.directory);
    certificates(&bench.directory, "other");
    let config = format!(
        "{listener}ssl_cert_login_from = common_name\nauth_mechanisms.1 = PLAIN\nauth_mechanisms.2 = EXTERNAL\n"
    );
    let broker = broker_with(|spec| {
        spec.plugins = vec!["rabbitmq_auth_mechanism_ssl".to_owned()];
        spec.config = config;
    });
    add_user(&broker, "client", "p");
    permit(&broker, "client", [".*"; 3]);
    (broker, port)
}

#[test]
fn tls_is_checked_and_certificates_log_in() {
    let bench = Workbench::new("tls");
    let (broker, port) = tls_broker(&bench);
    let (user, password) = broker.login();
    let own = "ca = \"own-ca.pem\"\nserver-name = \"broker.test\"";
    let client = "cert = \"own-client.pem\"\nkey = \"own-client-key.pem\"";
    let check = |keys: &str, tls: &str, expected: Result<(), (i32, &str)>| {
        let uri = format!("uri = \"amqps://{user}:{password}@127.0.0.1:{port}\"");
        bench.file("s.toml", scenario(&format!("{uri}\n{keys}\n[broker.tls]\n{tls}")));
        std::fs::remove_dir_all(bench.path("out")).ok();
        let ended = bench.rabbitscope("run s.toml --out out --json");
        let Err((code, words)) = expected else {
            ended.code(0);
            let load = &bench.json("out/run.json")["load"];
            assert_eq!((&load["confirmed"], &load["consumed"]), (&2000.into(), &2000.into()));
            return;
        };
        ended.code(code).says(&[words]);
    };
    check("", own, Ok(()));
    check("", "verify = false", Ok(()));
    check("auth = \"external\"", &format!("{own}\n{client}"), Ok(()));
    check("", "ca = \"other-ca.pem\"\nserver-name = \"broker.test\"", Err((5, "UnknownIssuer")));
    check("", "ca = \"own-ca.pem\"", Err((5, "not valid for name")));
    check("", "", Err((5, "UnknownIssuer")));
    check("", "ca = \"nowhere.pem\"", Err((2, "nowhere.pem")));
    check("", "ca = \"own-client-key.pem\"", Err((2, "PEM")));
    let foreign = client.replace("own", "other");
    check("auth = \"external\"", &format!("{own}\n{foreign}"), Err((5, "127.0.0.1")));
}

#[test]
fn a_token_logs_in_and_is_in_no_record() {
    let bench = Workbench::new("token");
    let broker = broker_with(trust_tokens);
    let token = token(&broker, 600);
    bench.file("token", format!("{token}\n"));
    let uri = format!("uri = \"amqp://{}\"", broker.address());
    bench.file("s.toml", scenario(&format!("{uri}\nauth = \"token\"\ntoken-file = \"token\"")));
    bench.rabbitscope("run s.toml --out out").code(0);
    assert_eq!(bench.json("out/run.json")["load"]["confirmed"], 2000);
    assert_eq!(bench.files_with("out", &token), [""; 0].map(std::path::PathBuf::from));

    bench.file("token", "forged");
    bench.rabbitscope("run s.toml --out forged").code(6).says(&["refuses user"]);
}

/// RabbitMQ takes new tokens by `connection.update-secret`.
#[test]
fn a_token_is_replaced_on_open_connections() {
    let load = || {
        Scenario::with_queue("tokens")
            .publishers(Publishers::new("tokens").rate(200).confirm_window(1000))
            .consumers(Consumers::new("tokens").prefetch(100))
    };
    Logins { plugins: &[], listener: None, tls: "", load }.check_renewal(load(), 2);
}

#[test]
fn processes_of_tls_belong_to_their_connection() {
    let bench = Workbench::new("tls-roles");
    let (broker, port) = tls_broker(&bench);
    let (user, password) = broker.login();
    let uri = format!("uri = \"amqps://{user}:{password}@127.0.0.1:{port}\"");
    let endless = Scenario::with_queue("logins")
        .publishers(Publishers::new("logins").confirm_window(100).size("10KiB"))
        .consumers(Consumers::new("logins").prefetch(100))
        .duration("60s")
        .text(&format!("[broker]\n{uri}\n[broker.tls]\nverify = false\n"));
    bench.file("s.toml", endless);
    let load = bench.start("run s.toml --out out");
    bench.await_seconds("out", 1);
    let node = node_options(&broker);
    let top = bench.rabbitscope(&format!("top processes --once --interval 1s --json {node}"));
    let top = top.code(0).json();
    let rows = top["rows"].as_array().unwrap();
    let of_role = |role: &'static str| -> Vec<&str> {
        rows.iter()
            .filter(|row| row["role"] == role)
            .filter_map(|row| row["name"].as_str())
            .collect()
    };
    for role in ["tls_sender", "tls_connection"] {
        let names = of_role(role);
        assert!(!names.is_empty(), "{role}: {top}");
        assert!(
            names.iter().all(|name| name.contains(&format!(" -> 127.0.0.1:{port}"))),
            "{names:?}"
        );
    }
    if may_profile() {
        let recorded = format!("profile {node} --duration 2s -o p.pb.gz");
        bench.rabbitscope(&recorded).code(0);
        let profile = bench.profile("p.pb.gz");
        let of = |role: &'static str| {
            profile.identities.values().filter(move |identity| identity.role == role)
        };
        let readers: Vec<&str> =
            of("reader").map(|identity| identity.connection.as_str()).collect();
        for role in ["tls_sender", "tls_connection"] {
            let is_of_reader = |it: &str| readers.contains(&it);
            assert!(
                of(role).any(|identity| is_of_reader(&identity.connection)),
                "{role} of {readers:?}"
            );
            for tls in of(role) {
                // One more connection is idle while the load runs.
                assert!(tls.connection.contains(&format!(" -> 127.0.0.1:{port}")), "{tls:?}");
                assert_eq!(tls.vhost, "/");
            }
        }
    }
    load.ended_by(Signal::INT);
}
