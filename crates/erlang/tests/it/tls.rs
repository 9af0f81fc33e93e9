//! A node with TLS: `erl -proto_dist inet_tls` with certificates made for the test.

use std::{
    fs,
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use rabbitscope_erlang::{
    ConnectOptions, Connection, CookieSource, ErrorKind, NodeName, Port, Term, TlsFiles,
};
use rabbitscope_testing::{certificates, eventually, free_port};
use tempfile::TempDir;

const NAME: &str = "rabbitscope-tls@localhost";

/// A node and its port mapper, which end with this value.
struct TlsNode {
    directory: TempDir,
    epmd_port: u16,
    children: Vec<Child>,
}

impl TlsNode {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        certificates(directory.path(), "own");
        certificates(directory.path(), "other");
        write(directory.path(), ".erlang.cookie", "tlscookie");
        write(
            directory.path(),
            "tls.config",
            &format!(
                "[{{server, [{{certfile, \"{0}/own-broker.pem\"}}, {{keyfile, \"{0}/own-broker-key.pem\"}}, \
                 {{cacertfile, \"{0}/own-ca.pem\"}}, {{verify, verify_peer}}, \
                 {{fail_if_no_peer_cert, true}}]}}].",
                directory.path().display()
            ),
        );
        let epmd_port = free_port();
        let mut node = Self { directory, epmd_port, children: Vec::new() };
        node.spawn("epmd", &["-port", &epmd_port.to_string(), "-address", "127.0.0.1"]);
        eventually("it answers", || TcpStream::connect(("127.0.0.1", epmd_port)).is_ok());
        let config = node.directory.path().join("tls.config").display().to_string();
        node.spawn(
            "erl",
            &[
                "-proto_dist",
                "inet_tls",
                "-ssl_dist_optfile",
                &config,
                "-sname",
                NAME,
                "-start_epmd",
                "false",
                "-noinput",
                "-kernel",
                "inet_dist_use_interface",
                "{127,0,0,1}",
            ],
        );
        node
    }

    fn spawn(&mut self, program: &str, arguments: &[&str]) {
        let child = Command::new(program)
            .args(arguments)
            .current_dir(&self.directory)
            .env("HOME", self.directory.path())
            .env("ERL_EPMD_PORT", self.epmd_port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.children.push(child.unwrap());
    }

    fn options(&self, authority: &str, own: bool) -> ConnectOptions {
        let file = |name: &str| self.directory.path().join(name);
        ConnectOptions {
            cookie: CookieSource::File(file(".erlang.cookie")),
            port: Port::Mapped(self.epmd_port),
            tls: Some(TlsFiles {
                authorities: Some(file(authority)),
                own: own.then(|| (file("own-client.pem"), file("own-client-key.pem"))),
            }),
            ..ConnectOptions::new(NodeName::parse(NAME).unwrap())
        }
    }
}

impl Drop for TlsNode {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn write(directory: &Path, name: &str, text: &str) {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut file =
        fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(directory.join(name));
    file.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_node_that_speaks_tls() {
    let node = TlsNode::start();
    let good = node.options("own-ca.pem", true);
    eventually("it answers", || Connection::open(&good).is_ok());
    let connection = Connection::open(&good).unwrap();
    let within = Duration::from_secs(5);
    let call = |size: i64| {
        let arguments = vec![size.into(), Term::atom("x")];
        connection.call("lists", "duplicate", arguments, within).unwrap().as_list().unwrap().len()
    };
    assert_eq!(connection.call("erlang", "node", vec![], within).unwrap(), Term::atom(NAME));
    // The term takes many TLS records, in both directions.
    assert_eq!(call(300_000), 300_000);
    let long = Term::Binary(vec![7; 1 << 20]);
    let back = connection.call("lists", "last", vec![Term::list([long.clone()])], within);
    assert_eq!(back.unwrap(), long);

    let refuse = |options: &ConnectOptions, says: &str| {
        let error = Connection::open(options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unreachable, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    };
    refuse(&node.options("other-ca.pem", true), "UnknownIssuer");
    let error = Connection::open(&node.options("none.pem", true)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
    assert!(error.to_string().contains("cannot read certificates"), "{error}");
    refuse(&node.options("own-ca.pem", false), NAME);
    refuse(&ConnectOptions { tls: None, ..good }, NAME);
}
