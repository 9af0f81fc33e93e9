//! TLS, certificates, tokens and anonymous logins by MQTT.

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Workbench, add_user, broker_with, count, free_port, permit, port_of, scenario::Scenario,
    tls_listener, token, trust_tokens,
};

use super::{publishers, readers, versions::has_version_five};

const PLUGIN: &str = "rabbitmq_mqtt";

/// Messages that are all confirmed and consumed. `broker` is the section of the scenario.
fn scenario(broker: &str) -> Scenario {
    Scenario::new("mqtt-logins")
        .publishers(publishers("log/ins").messages(2000).confirm_window(100).size("10KiB"))
        .consumers(readers(&["log/#"]).messages(2000))
        .verify(true)
        .duration("30s")
        .text(&format!("[broker]\n{broker}\n"))
}

/// Runs a scenario whose messages all arrive.
fn succeeds(bench: &Workbench, broker: &str) {
    bench.file("s.toml", scenario(broker));
    let _ = std::fs::remove_dir_all(bench.path("out"));
    let text = bench.rabbitscope("run s.toml --out out").code(0).stdout;
    assert!(text.contains("Of 2000 accepted messages 0 lost, 0 duplicates"), "{text}");
    let run = bench.json("out/run.json");
    assert_eq!((count(&run, "confirmed"), count(&run, "consumed")), (2000, 2000));
}

/// Returns the URI of a broker without a login.
fn address(broker: &Broker) -> String {
    format!("amqp://{}?mqtt_port={}", broker.address(), port_of(broker, "mqtt"))
}

#[test]
fn tls_is_checked_and_certificates_log_in() {
    let bench = Workbench::new("mqtt-tls");
    let ((listener, port), mqtt_port) = (tls_listener(&bench.directory), free_port());
    let broker = broker_with(|spec| {
        spec.plugins = [PLUGIN, "rabbitmq_auth_mechanism_ssl"].map(str::to_owned).to_vec();
        spec.config = format!(
            "{listener}ssl_cert_login_from = common_name\nauth_mechanisms.1 = PLAIN\nauth_mechanisms.2 = EXTERNAL\n\
             mqtt.listeners.ssl.1 = 127.0.0.1:{mqtt_port}\nmqtt.ssl_cert_login = true\n"
        );
    });
    add_user(&broker, "client", "p");
    permit(&broker, "client", [".*"; 3]);
    let (user, password) = broker.login();
    let at = format!("127.0.0.1:{port}?mqtt_port={mqtt_port}");
    let own = "[broker.tls]\nca = \"own-ca.pem\"\nserver-name = \"broker.test\"";
    succeeds(&bench, &format!("uri = \"amqps://{user}:{password}@{at}\"\n{own}"));
    let client = "cert = \"own-client.pem\"\nkey = \"own-client-key.pem\"";
    succeeds(&bench, &format!("uri = \"amqps://{at}\"\nauth = \"external\"\n{own}\n{client}"));
}

#[test]
fn a_token_logs_in() {
    let bench = Workbench::new("mqtt-token");
    let broker = broker_with(|spec| {
        spec.plugins.push(PLUGIN.to_owned());
        trust_tokens(spec);
    });
    bench.file("token", token(&broker, 600));
    let login = format!("uri = \"{}\"\nauth = \"token\"\ntoken-file = \"token\"", address(&broker));
    succeeds(&bench, &login);
}

/// From 4.0 on a broker can name the user of those who give none, also for the connection that declares queues.
#[test]
fn nobody_logs_in_as_the_user_for_this() {
    let bench = Workbench::new("mqtt-anonymous");
    // Releases with MQTT 5 and without this setting are not tested.
    let is_native = has_version_five();
    let keys = "anonymous_login_user = nobody\nanonymous_login_pass = n\n";
    let broker = broker_with(|spec| {
        spec.plugins.push(PLUGIN.to_owned());
        if is_native {
            spec.config = keys.to_owned();
        }
    });
    add_user(&broker, "nobody", "n");
    permit(&broker, "nobody", [".*"; 3]);
    let login = format!("uri = \"{}\"\nauth = \"anonymous\"", address(&broker));
    if is_native {
        succeeds(&bench, &login);
    } else {
        bench.file("s.toml", scenario(&login));
        let ended = bench.rabbitscope("run s.toml --out out");
        ended.code(5).says(&["offers the login mechanisms", "ANONYMOUS"]);
    }
}
