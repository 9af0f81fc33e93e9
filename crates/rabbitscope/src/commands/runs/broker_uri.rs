//! The broker from the command line or the environment, in place of the scenario's.

use rabbitscope_runs::scenario::{BrokerSpec, Scenario};

/// Directs the load to the broker at these addresses, instead of the scenario's. Parameters of connections
/// (heartbeat, sizes) that only the scenario's URI has still apply.
pub(in crate::commands) fn replace(scenario: &mut Scenario, uris: Vec<String>) {
    let of_scenario = match &scenario.broker.spec {
        BrokerSpec::Existing { uris } => uris.first().map_or("", |uri| query(uri)),
        BrokerSpec::Throwaway(_) => "",
    };
    let uris = uris.into_iter().map(|uri| with_parameters(uri, of_scenario)).collect();
    scenario.broker.spec = BrokerSpec::Existing { uris };
}

/// Adds the parameters that the URI itself lacks.
fn with_parameters(uri: String, parameters: &str) -> String {
    parameters.split('&').filter(|pair| !pair.is_empty()).fold(uri, |uri, parameter| {
        let is_there = query(&uri).split('&').any(|own| key(own) == key(parameter));
        let sign = match query(&uri) {
            _ if is_there => return uri,
            "" if uri.ends_with('?') => "",
            "" => "?",
            _ => "&",
        };
        format!("{uri}{sign}{parameter}")
    })
}

fn query(uri: &str) -> &str {
    uri.split_once('?').map_or("", |(_, query)| query)
}

fn key(parameter: &str) -> &str {
    parameter.split('=').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_scenario_says_of_connections_holds() {
        fn check(uri: &str, parameters: &str, expected: &str) {
            assert_eq!(with_parameters(uri.to_owned(), parameters), expected);
        }
        let both = "heartbeat=10&frame_max=65536";
        check("amqp://u:p@h/v", both, "amqp://u:p@h/v?heartbeat=10&frame_max=65536");
        check("amqp://h?heartbeat=5", both, "amqp://h?heartbeat=5&frame_max=65536");
        check("amqp://h?frame_max=0&heartbeat=5", both, "amqp://h?frame_max=0&heartbeat=5");
        check("amqp://h?", both, "amqp://h?heartbeat=10&frame_max=65536");
        check("amqp://h", "", "amqp://h");
    }
}
