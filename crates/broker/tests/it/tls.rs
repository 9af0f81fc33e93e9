//! A broker whose distribution uses TLS.

use std::process::Command;

use rabbitscope_broker::Broker;
use rabbitscope_runs::scenario::ThrowawayBroker;

/// Script that makes an authority and a certificate of it for localhost.
const CERTIFICATES: &str = "
set -e
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \\
    -keyout authority.key -out authority.pem -subj /CN=authority -addext basicConstraints=critical,CA:TRUE
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \\
    -keyout node.key -out node.csr -subj /CN=localhost
printf 'subjectAltName=DNS:localhost\\nbasicConstraints=CA:FALSE\\n' > node.ext
openssl x509 -req -in node.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 \\
    -extfile node.ext -out node.pem
";

#[test]
fn a_node_that_speaks_tls_to_other_nodes() {
    let directory = tempfile::tempdir().unwrap();
    let made = Command::new("sh").args(["-c", CERTIFICATES]).current_dir(&directory).output();
    let made = made.unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let files = format!(
        "{{certfile, \"{0}/node.pem\"}}, {{keyfile, \"{0}/node.key\"}}, \
         {{cacertfile, \"{0}/authority.pem\"}}, {{verify, verify_peer}}",
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
