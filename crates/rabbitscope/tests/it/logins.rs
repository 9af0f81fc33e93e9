//! TLS and the authentication mechanisms, against the real broker.

use std::{
    fs::{self, File},
    net::TcpListener,
    path::Path,
};

use rabbitscope_broker::Broker;
use rabbitscope_profiles::read_pprof;
use rabbitscope_runs::scenario::ThrowawayBroker;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustix::process::Signal;

use crate::workbench::{Workbench, eventually, lines, may_profile, signal};

/// A run of a few messages that are all confirmed and consumed.
fn text(broker: &str) -> String {
    format!(
        r#"
name = "logins"
[broker]
{broker}
[[queues]]
name = "logins"
[[publishers]]
queue = "logins"
messages = 2000
confirm-window = 100
size = "10KiB"
[[consumers]]
queue = "logins"
prefetch = 100
messages = 2000
"#
    )
}

/// Makes an authority in `NAME-ca.pem` that has signed `NAME-broker.pem` and `NAME-client.pem`, with keys.
fn certificates(directory: &Path, name: &str) {
    let file = |name: &str, text: &str| fs::write(directory.join(name), text).unwrap();
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, format!("{name} authority"));
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    file(&format!("{name}-ca.pem"), &authority.pem());
    let hosts = [("broker", vec!["broker.test", "localhost"]), ("client", vec!["client.test"])];
    for (role, hosts) in hosts {
        let key = KeyPair::generate().unwrap();
        let hosts: Vec<_> = hosts.into_iter().map(str::to_owned).collect();
        let mut params = CertificateParams::new(hosts).unwrap();
        params.distinguished_name.push(DnType::CommonName, role);
        let certificate = params.signed_by(&key, &authority).unwrap();
        file(&format!("{name}-{role}.pem"), &certificate.pem());
        file(&format!("{name}-{role}-key.pem"), &key.serialize_pem());
    }
}

/// Returns the configuration of a broker with TLS on a separate port, and the port. The authority in `own-ca.pem` has
/// signed the broker's certificate for `localhost` and `broker.test`. All files are in this directory.
pub(crate) fn tls_listener(directory: &Path) -> (String, u16) {
    certificates(directory, "own");
    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let file = |name: &str| directory.join(name).display().to_string();
    let config = format!(
        "listeners.ssl.1 = 127.0.0.1:{port}\nssl_options.cacertfile = {}\n\
         ssl_options.certfile = {}\nssl_options.keyfile = {}\nssl_options.verify = verify_peer\n\
         ssl_options.fail_if_no_peer_cert = false\n",
        file("own-ca.pem"),
        file("own-broker.pem"),
        file("own-broker-key.pem"),
    );
    (config, port)
}

/// Returns a broker with TLS, and the port.
fn tls_broker(bench: &Workbench) -> (Broker, u16) {
    let (listener, port) = tls_listener(&bench.directory);
    certificates(&bench.directory, "other");
    let config = format!(
        "{listener}ssl_cert_login_from = common_name\nauth_mechanisms.1 = PLAIN\nauth_mechanisms.2 = EXTERNAL\n"
    );
    let plugins = vec!["rabbitmq_auth_mechanism_ssl".to_owned()];
    let spec = ThrowawayBroker { plugins, config, ..ThrowawayBroker::default() };
    let broker = Broker::start(&spec, &bench.path("broker.log")).unwrap();
    let user = "rabbit_auth_backend_internal:add_user(<<\"client\">>, <<\"p\">>, <<\"test\">>)";
    broker.eval(user).unwrap();
    let rights = "rabbit_auth_backend_internal:set_permissions(<<\"client\">>, <<\"/\">>, \
                  <<\".*\">>, <<\".*\">>, <<\".*\">>, <<\"test\">>)";
    broker.eval(rights).unwrap();
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
        bench.file("s.toml", &text(&format!("{uri}\n{keys}\n[broker.tls]\n{tls}")));
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
    let key = "#{<<\"kty\">> => <<\"oct\">>, <<\"k\">> => <<\"c2VjcmV0LW9mLXRoZS10ZXN0\">>}";
    let spec = ThrowawayBroker {
        plugins: vec!["rabbitmq_auth_backend_oauth2".to_owned()],
        advanced_config: format!(
            "[{{rabbit, [{{auth_backends, [rabbit_auth_backend_oauth2, \
             rabbit_auth_backend_internal]}}]}}, {{rabbitmq_auth_backend_oauth2, \
             [{{resource_server_id, <<\"rabbitmq\">>}}, {{key_config, [{{default_key, <<\"k\">>}}, \
             {{signing_keys, #{{<<\"k\">> => {{map, {key}}}}}}}]}}]}}]."
        ),
        ..ThrowawayBroker::default()
    };
    let broker = Broker::start(&spec, &bench.path("broker.log")).unwrap();
    let scopes =
        ["configure", "write", "read"].map(|right| format!("<<\"rabbitmq.{right}:*/*\">>"));
    let token = broker.eval(&format!(
        "binary_to_list(element(2, jose_jws:compact(jose_jwt:sign({key}, #{{<<\"alg\">> => \
         <<\"HS256\">>, <<\"kid\">> => <<\"k\">>}}, #{{<<\"aud\">> => [<<\"rabbitmq\">>], \
         <<\"sub\">> => <<\"tester\">>, <<\"exp\">> => erlang:system_time(second) + 600, \
         <<\"scope\">> => [{}]}}))))",
        scopes.join(", ")
    ));
    let token = token.unwrap().trim_matches('"').to_owned();
    bench.file("token", &format!("{token}\n"));
    let uri = format!("uri = \"amqp://{}\"", broker.address());
    bench.file("s.toml", &text(&format!("{uri}\nauth = \"token\"\ntoken-file = \"token\"")));
    bench.rabbitscope("run s.toml --out out").code(0);
    assert_eq!(bench.json("out/run.json")["load"]["confirmed"], 2000);
    assert_eq!(bench.files_with("out", &token), [""; 0].map(std::path::PathBuf::from));

    bench.file("token", "forged");
    bench.rabbitscope("run s.toml --out forged").code(6).says(&["refuses user"]);
}

#[test]
fn processes_of_tls_belong_to_their_connection() {
    let bench = Workbench::new("tls-roles");
    let (broker, port) = tls_broker(&bench);
    let (user, password) = broker.login();
    let uri = format!("uri = \"amqps://{user}:{password}@127.0.0.1:{port}\"");
    let scenario = text(&format!("{uri}\n[broker.tls]\nverify = false"));
    let endless = scenario.replace("messages = 2000\n", "");
    bench.file("s.toml", &format!("{endless}\n[run]\nduration = \"60s\"\n"));
    let mut load = bench.start("run s.toml --out out");
    eventually("the load runs", || lines(&bench.path("out/series.jsonl")) >= 1);
    let (home, epmd_port) = (broker.distribution().0, broker.port_mapper());
    let node = format!(
        "--node {} --cookie-file {}/.erlang.cookie --epmd-port {epmd_port}",
        broker.node_name(),
        home.display(),
    );
    let top = bench.rabbitscope(&format!("top processes --once --interval 1s --json {node}"));
    let top: serde_json::Value = serde_json::from_str(&top.code(0).stdout).unwrap();
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
        let profile = read_pprof(File::open(bench.path("p.pb.gz")).unwrap()).unwrap();
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
    signal(&load, Signal::INT);
    load.wait().unwrap();
}
