//! TLS, certificates, tokens and anonymous logins by AMQP 1.0.

use rabbitscope_testing::{
    Ends as _, Workbench, add_user, broker_with, count, not_run, permit,
    scenario::{Queue, Scenario},
    tls_listener, token, trust_tokens,
};

use super::{PLUGIN, consumers, is_native, publishers};

/// Messages that are all confirmed and consumed. `broker` is the section of the scenario.
fn scenario(broker: &str) -> Scenario {
    Scenario::new("amqp10-logins")
        .queues(Queue::new("logins"))
        .publishers(publishers("logins").messages(2000).confirm_window(100).size("10KiB"))
        .consumers(consumers("logins").prefetch(100).messages(2000))
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

#[test]
fn tls_is_checked_and_certificates_log_in() {
    let bench = Workbench::new("amqp10-tls");
    let (listener, port) = tls_listener(&bench.directory);
    let broker = broker_with(|spec| {
        spec.plugins = [PLUGIN, "rabbitmq_auth_mechanism_ssl"].map(str::to_owned).to_vec();
        spec.config = format!(
            "{listener}ssl_cert_login_from = common_name\nauth_mechanisms.1 = PLAIN\nauth_mechanisms.2 = EXTERNAL\n"
        );
    });
    add_user(&broker, "client", "p");
    permit(&broker, "client", [".*"; 3]);
    let (user, password) = broker.login();
    let own = "[broker.tls]\nca = \"own-ca.pem\"\nserver-name = \"broker.test\"";
    succeeds(&bench, &format!("uri = \"amqps://{user}:{password}@127.0.0.1:{port}\"\n{own}"));
    let client = "cert = \"own-client.pem\"\nkey = \"own-client-key.pem\"";
    let external = format!("uri = \"amqps://127.0.0.1:{port}\"\nauth = \"external\"\n{own}");
    succeeds(&bench, &format!("{external}\n{client}"));
    bench
        .file("s.toml", scenario(&format!("uri = \"amqps://{user}:{password}@127.0.0.1:{port}\"")));
    bench.rabbitscope("run s.toml --out untrusted").code(5).says(&["UnknownIssuer"]);
}

#[test]
fn a_token_logs_in() {
    let bench = Workbench::new("amqp10-token");
    let broker = broker_with(|spec| {
        spec.plugins.push(PLUGIN.to_owned());
        trust_tokens(spec);
    });
    let token = token(&broker, 600);
    bench.file("token", &token);
    let login =
        format!("uri = \"amqp://{}\"\nauth = \"token\"\ntoken-file = \"token\"", broker.address());
    if is_native() {
        succeeds(&bench, &login);
        assert_eq!(bench.files_with("out", &token), [""; 0].map(std::path::PathBuf::from));
    } else {
        // The plugin of 3.x opens a second connection of the user, without a password.
        bench.file("s.toml", scenario(&login));
        bench.rabbitscope("run s.toml --out out").code(1).says(&["auth_failure"]);
    }
}

/// The broker ends a connection whose token expires. The next one has the token that is in the file then.
#[test]
fn a_later_connection_has_a_later_token() {
    if !is_native() {
        return not_run("the plugin of 3.x lets connections outlive their tokens");
    }
    let bench = Workbench::new("amqp10-renewed");
    let broker = broker_with(trust_tokens);
    bench.file("token", token(&broker, 15));
    let scenario = Scenario::new("amqp10-renewed")
        .queues(Queue::new("renewed"))
        .publishers(
            publishers("renewed")
                .rate(200)
                .messages(5000)
                .confirm_window(1000)
                .republish_unconfirmed(true),
        )
        .consumers(consumers("renewed").prefetch(100))
        .verify(true)
        .until("empty")
        .text(&format!(
            "[broker]\nrecovery = true\nrecovery-delay = \"100ms\"\nuri = \"amqp://{}\"\nauth = \"token\"\ntoken-file = \"token\"\n",
            broker.address()
        ));
    bench.file("s.toml", scenario);
    let running = bench.start("run s.toml --out out");
    bench.await_seconds("out", 1);
    bench.file("token", token(&broker, 600));
    let text = running.ended().code(0).stdout;
    assert!(text.contains("Of 5000 accepted messages 0 lost"), "{text}");
    let run = bench.json("out/run.json");
    assert!(count(&run, "reconnects") >= 2, "{run:#}");
    assert_eq!(count(&run, "confirmed"), 5000);
}

/// From 4.0 on a broker can name the user of those who give none, also for the connection that declares queues.
#[test]
fn nobody_logs_in_as_the_user_for_this() {
    let bench = Workbench::new("amqp10-anonymous");
    let keys = "anonymous_login_user = nobody\nanonymous_login_pass = n\n";
    let broker = broker_with(|spec| {
        spec.plugins.push(PLUGIN.to_owned());
        if is_native() {
            spec.config = keys.to_owned();
        }
    });
    add_user(&broker, "nobody", "n");
    permit(&broker, "nobody", [".*"; 3]);
    let login = format!("uri = \"amqp://{}\"\nauth = \"anonymous\"", broker.address());
    if is_native() {
        succeeds(&bench, &login);
    } else {
        bench.file("s.toml", scenario(&login));
        let ended = bench.rabbitscope("run s.toml --out out");
        ended.code(5).says(&["offers the login mechanisms", "ANONYMOUS"]);
    }
}
