//! A stand-in for Pyroscope, Parca and an OTLP receiver, because there is no Pyroscope and no Parca to query. It
//! decodes requests with the published definitions and protobuf's own Python implementation. The definitions of OTLP
//! are OpenTelemetry's own package.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::environment;

/// Package of the Python Package Index. It depends on protobuf.
const DEFINITIONS: &str = "opentelemetry-proto==1.45.2";

/// A receiver that ends with the test.
pub struct Receiver {
    /// Its URL.
    pub url: String,
    child: Child,
    decoded: mpsc::Receiver<Value>,
    _place: TempDir,
}

impl Receiver {
    /// Installs the definitions and starts the receiver. Fails with the reason if the definitions cannot be
    /// installed.
    pub fn start() -> Result<Self, String> {
        let place = tempfile::tempdir().unwrap();
        let python = environment(place.path(), DEFINITIONS)?;
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/servers/receiver.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = format!("http://127.0.0.1:{}", lines.next().unwrap().unwrap());
        let (sender, decoded) = mpsc::channel();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        Ok(Self { url, child, decoded, _place: place })
    }

    /// Returns the next request, decoded.
    pub fn next(&self, within: Duration) -> Option<Value> {
        self.decoded.recv_timeout(within).ok()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
