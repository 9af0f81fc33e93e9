//! A stand-in for Pyroscope, Parca and an OTLP receiver, because there is no Pyroscope and no Parca to query. It
//! decodes requests with the published definitions and protobuf's own Python implementation. The definitions of OTLP
//! are OpenTelemetry's own package.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

/// Debian's own Python.
const PYTHON: &str = "/usr/bin/python3";
/// Package of the Python Package Index. It depends on protobuf.
const DEFINITIONS: &str = "opentelemetry-proto==1.45.2";

/// A receiver that ends with the test.
pub(crate) struct Receiver {
    pub(crate) url: String,
    child: Child,
    decoded: mpsc::Receiver<Value>,
    _place: TempDir,
}

impl Receiver {
    /// Installs the definitions and starts the receiver. Fails with the reason if the definitions cannot be
    /// installed.
    pub(crate) fn start() -> Result<Self, String> {
        let place = tempfile::tempdir().unwrap();
        let python = definitions_in(place.path())?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../export/tests/it/receiver.py");
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
    pub(crate) fn next(&self, within: Duration) -> Option<Value> {
        self.decoded.recv_timeout(within).ok()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn definitions_in(place: &Path) -> Result<PathBuf, String> {
    let python = place.join("bin/python");
    succeed(Command::new("timeout").args(["60", PYTHON, "-m", "venv"]).arg(place))?;
    let mut install = Command::new("timeout");
    install.arg("60").arg(&python).args(["-m", "pip", "install", "--quiet", DEFINITIONS]);
    succeed(&mut install)?;
    Ok(python)
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output().unwrap();
    let said = [stdout, stderr].concat();
    let last = String::from_utf8_lossy(&said).trim().lines().last().unwrap_or_default().to_owned();
    if status.success() {
        Ok(())
    } else {
        Err(format!("{DEFINITIONS} cannot be installed: {last}"))
    }
}
