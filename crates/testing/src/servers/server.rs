//! Third-party servers, each on a free port with its data in its own directory. They end with the test.

use std::{
    fs,
    net::SocketAddr,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{conditions::within, machine::free_address};

const START_TIMEOUT: Duration = Duration::from_secs(30);

/// Shell script that ends the program when the test closes standard input or is killed.
const GUARD: &str = "\"$@\" </dev/null & cat >/dev/null; kill $!; wait $!";

/// A server that can be stopped and restarted with its data.
pub struct Server {
    /// The address at which it listens.
    pub address: SocketAddr,
    place: TempDir,
    program: &'static str,
    arguments: Vec<String>,
    running: Option<Child>,
}

impl Server {
    /// Creates a Prometheus that scrapes `target` every second.
    pub fn prometheus(target: SocketAddr) -> Self {
        let (address, place) = (free_address(), tempfile::tempdir().unwrap());
        let config = place.path().join("prometheus.yml");
        let text = format!(
            "global: {{scrape_interval: 1s}}\nscrape_configs:\n- job_name: scraped\n  \
             static_configs: [{{targets: ['{target}']}}]\n"
        );
        fs::write(&config, text).unwrap();
        let arguments = vec![
            format!("--config.file={}", config.display()),
            format!("--storage.tsdb.path={}", place.path().join("data").display()),
            format!("--web.listen-address={address}"),
            "--web.enable-remote-write-receiver".to_owned(),
        ];
        Self { address, place, program: "prometheus", arguments, running: None }
    }

    /// Creates a `VictoriaMetrics`.
    pub fn victoria_metrics() -> Self {
        let (address, place) = (free_address(), tempfile::tempdir().unwrap());
        let arguments = vec![
            format!("-storageDataPath={}", place.path().join("data").display()),
            format!("-httpListenAddr={address}"),
        ];
        Self { address, place, program: "victoria-metrics", arguments, running: None }
    }

    /// Starts the server, and waits until it is ready.
    pub fn start(&mut self) {
        let log = |name: &str| fs::File::create(self.place.path().join(name)).unwrap();
        let child = Command::new("sh")
            .args(["-c", GUARD, "guard", self.program])
            .args(&self.arguments)
            .current_dir(self.place.path())
            .stdin(Stdio::piped())
            .stdout(log("stdout"))
            .stderr(log("stderr"))
            .spawn();
        self.running = Some(child.unwrap());
        let path = if self.program == "prometheus" { "/-/ready" } else { "/health" };
        let is_ready = || ureq::get(self.url(path)).call().is_ok();
        within(START_TIMEOUT, &format!("{} is ready", self.program), is_ready);
    }

    /// Stops the server cleanly, so that it keeps the data that it accepted.
    pub fn end(&mut self) {
        if let Some(mut child) = self.running.take() {
            drop(child.stdin.take());
            let ended = || child.try_wait().unwrap().is_some();
            within(START_TIMEOUT, &format!("{} has ended", self.program), ended);
        }
    }

    /// Returns the URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the value of each series of an expression.
    #[track_caller]
    pub fn query(&self, expression: &str) -> Vec<f64> {
        let request = ureq::get(self.url("/api/v1/query")).query("query", expression);
        let answer = request.call().unwrap_or_else(|error| panic!("{expression}: {error}"));
        let answer = answer.into_body().read_to_string().unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let series = answer["data"]["result"].as_array().unwrap();
        series.iter().map(|series| series["value"][1].as_str().unwrap().parse().unwrap()).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.running.take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}
