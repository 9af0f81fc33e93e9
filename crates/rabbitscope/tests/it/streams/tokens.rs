//! Logins by OAuth 2 tokens that are replaced while streams are loaded.

use rabbitscope_testing::{Workbench, port_of, scenario::Scenario, token};

use super::{FILTERS, has_commands_of, publishers, readers, stream};
use crate::protocols::logins::Logins;

const LOGINS: Logins =
    Logins { plugins: &["rabbitmq_stream"], listener: Some("stream"), tls: "", load };

fn load() -> Scenario {
    Scenario::new("streams-token")
        .queues(stream("tokens"))
        .publishers(publishers("tokens").rate(200))
        .consumers(readers("tokens"))
}

/// Brokers that know when a token ends close the connection then, unless they get another one. From the same release on
/// they take another one.
#[test]
fn a_token_is_replaced_on_open_connections() {
    let is_watched = has_commands_of(FILTERS);
    let broker = LOGINS.check_renewal(load(), if is_watched { 2 } else { 0 });
    let bench = Workbench::new("streams-expired");
    let login = format!(
        "[broker]\nuri = \"amqp://{}?stream_port={}\"\nauth = \"token\"\ntoken-file = \"token\"\n",
        broker.address(),
        port_of(&broker, "stream")
    );
    bench.file("s.toml", load().duration("12s").text(&login));
    bench.file("token", token(&broker, 6));
    bench.rabbitscope("run s.toml --out lost").code(i32::from(is_watched));
}
