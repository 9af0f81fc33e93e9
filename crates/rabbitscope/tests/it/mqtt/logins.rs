//! TLS, certificates, tokens and anonymous logins by MQTT.

use rabbitscope_testing::scenario::Scenario;

use super::{publishers, readers, versions::has_version_five};
use crate::protocols::logins::Logins;

const LOGINS: Logins = Logins {
    plugins: &["rabbitmq_mqtt"],
    listener: Some("mqtt"),
    tls: "mqtt.listeners.ssl.1 = 127.0.0.1:PORT\nmqtt.ssl_cert_login = true\n",
    load,
};

fn load() -> Scenario {
    Scenario::new("mqtt-logins")
        .publishers(publishers("log/ins").messages(2000).confirm_window(100).size("10KiB"))
        .consumers(readers(&["log/#"]).messages(2000))
}

#[test]
fn tls_is_checked_and_certificates_log_in() {
    LOGINS.check_certificates();
}

#[test]
fn a_token_logs_in() {
    LOGINS.check_token(None);
}

/// Releases with MQTT 5 and without the setting are not tested.
#[test]
fn nobody_logs_in_as_the_user_for_this() {
    LOGINS.check_anonymous(has_version_five());
}
