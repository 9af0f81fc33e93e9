//! TLS, certificates, tokens and anonymous logins by AMQP 1.0.

use rabbitscope_testing::{
    Ends as _, Workbench, broker_with, count, not_run,
    scenario::{Queue, Scenario},
    token, trust_tokens,
};

use super::{PLUGIN, consumers, is_native, publishers, release};
use crate::protocols::logins::Logins;

/// First release that takes new tokens on open connections.
const RENEWING: (u32, u32) = (4, 1);

const LOGINS: Logins = Logins { plugins: &[PLUGIN], listener: None, tls: "", load };

fn load() -> Scenario {
    Scenario::new("amqp10-logins")
        .queues(Queue::new("logins"))
        .publishers(publishers("logins").messages(2000).confirm_window(100).size("10KiB"))
        .consumers(consumers("logins").prefetch(100).messages(2000))
}

#[test]
fn tls_is_checked_and_certificates_log_in() {
    LOGINS.check_certificates();
}

/// The plugin of 3.x opens a second connection of the user, without a password.
#[test]
fn a_token_logs_in() {
    LOGINS.check_token((!is_native()).then_some("auth_failure"));
}

#[test]
fn nobody_logs_in_as_the_user_for_this() {
    LOGINS.check_anonymous(is_native());
}

#[test]
fn a_token_is_replaced_on_open_connections() {
    if release() < RENEWING {
        return not_run("the broker takes no new token on an open connection of AMQP 1.0");
    }
    let load = Scenario::new("amqp10-token")
        .queues(Queue::new("tokens"))
        .publishers(publishers("tokens").rate(200).confirm_window(1000))
        .consumers(consumers("tokens").prefetch(100));
    LOGINS.check_renewal(load, 2);
}

/// The broker ends a connection whose token expires. The next one has the token that is in the file then.
#[test]
fn a_later_connection_has_a_later_token() {
    if !is_native() || release() >= RENEWING {
        return not_run("connections of the broker outlive their tokens, or take others");
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
