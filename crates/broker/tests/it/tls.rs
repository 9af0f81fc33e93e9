//! A broker whose distribution uses TLS.

use rabbitscope_broker::Broker;
use rabbitscope_runs::scenario::ThrowawayBroker;
use rabbitscope_testing::certificates;

#[test]
fn a_node_that_speaks_tls_to_other_nodes() {
    let directory = tempfile::tempdir().unwrap();
    certificates(directory.path(), "own");
    let files = format!(
        "{{certfile, \"{0}/own-broker.pem\"}}, {{keyfile, \"{0}/own-broker-key.pem\"}}, \
         {{cacertfile, \"{0}/own-ca.pem\"}}, {{verify, verify_peer}}",
        directory.path().display()
    );
    let config = directory.path().join("tls.config");
    std::fs::write(&config, format!("[{{server, [{files}]}}, {{client, [{files}]}}].")).unwrap();
    let erl_args = format!("-proto_dist inet_tls -ssl_dist_optfile {}", config.display());
    let spec = ThrowawayBroker { erl_args, ..ThrowawayBroker::default() };
    let broker = Broker::start_with_own_log(&spec).unwrap();
    assert_eq!(broker.eval("rabbit:is_running()").unwrap(), "true");
    assert_eq!(broker.eval("lists:duplicate(100, <<\"long\">>) =/= []").unwrap(), "true");
    let protocol = broker.eval("element(2, init:get_argument(proto_dist))").unwrap();
    assert_eq!(protocol, "[[\"inet_tls\"]]");
}
