//! The live page of all recorded nodes (`--serve`): a row for each, and the stacks of all together.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rabbitscope_diagnosis::{Brief, CheckReport};
use rabbitscope_export::NodeLabels;
use rabbitscope_http::Listener;
use rabbitscope_probe::NodeWindow;
use rabbitscope_profiles::{Event, Profile, by_node};
use rabbitscope_serve::LiveServer;
use rabbitscope_text::{clock_utc, display_utc};
use rabbitscope_web::{LiveNodes, Tick, WatchedNode};

/// Time in which viewers receive the last event.
const LAST_EVENT: Duration = Duration::from_secs(1);

/// The page and its server.
pub(super) struct WatchPage {
    server: LiveServer,
    began: Instant,
    nodes: LiveNodes,
    /// CPU time that the page does not have yet, each part with the name of its node.
    waiting: Vec<(String, Profile)>,
}

impl WatchPage {
    /// Starts the server.
    pub(super) fn start(listener: Listener) -> anyhow::Result<Self> {
        let facts = vec![
            "read only".to_owned(),
            "rows and stacks change when a window ends".to_owned(),
            "the recording goes on without a viewer".to_owned(),
        ];
        let server = LiveServer::start(listener, &LiveNodes::page(), &LiveNodes::head(facts))?;
        let (nodes, waiting) = (LiveNodes::default(), Vec::new());
        Ok(Self { server, began: Instant::now(), nodes, waiting })
    }

    /// Returns the address, which is secret.
    pub(super) fn url(&self) -> &str {
        self.server.url()
    }

    /// Adds a node's window with its judgement.
    pub(super) fn add(&mut self, labels: &NodeLabels, window: &NodeWindow, report: &CheckReport) {
        let Some(cpu) = window.profiles.iter().find(|profile| profile.event == Event::Cpu) else {
            return;
        };
        let capture = &cpu.capture;
        let busy = cpu.total().saturating_mul(capture.period_nanos) as f64;
        let node = WatchedNode {
            node: name_of(labels, window.pid),
            version: labels.version.clone(),
            window: span(cpu),
            cores: busy / capture.duration_nanos.max(1) as f64,
            samples: cpu.total(),
            brief: Brief::from_report(report),
        };
        self.waiting.push((node.node.clone(), cpu.clone()));
        self.nodes.set(window.pid, node);
    }

    /// Shows what was added, and removes the rows of other nodes.
    pub(super) fn show(&mut self, is_recorded: impl Fn(u32) -> bool) {
        let has_changed = self.nodes.retain(is_recorded) || !self.waiting.is_empty();
        if !has_changed {
            return;
        }
        // Recordings with different settings have no sum. They are missing on the page only.
        if let Some(sum) = by_node(std::mem::take(&mut self.waiting)) {
            self.server.window(sum);
        }
        let mut tick = Tick::new(now_nanos());
        let since_begin = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nodes.write(&mut tick, since_begin);
        self.server.tick(tick);
    }

    /// Tells viewers that the recording has ended.
    pub(super) fn end(self) {
        let at = display_utc(Duration::from_nanos(now_nanos()));
        self.server.end(&format!("The recording ended at {at}."), None);
        self.server.linger(LAST_EVENT, &std::sync::atomic::AtomicBool::new(false));
    }
}

fn name_of(labels: &NodeLabels, pid: u32) -> String {
    if labels.node.is_empty() { format!("pid {pid}") } else { labels.node.clone() }
}

/// Describes the time of a window.
fn span(profile: &Profile) -> String {
    let clock = |nanos| clock_utc(Duration::from_nanos(nanos));
    let start = profile.capture.started_unix_nanos;
    let end = start.saturating_add(profile.capture.duration_nanos);
    format!("{} to {} UTC", clock(start), clock(end))
}

fn now_nanos() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};

    use rabbitscope_diagnosis::{Case, Subject};
    use rabbitscope_http::ListenOptions;
    use rabbitscope_profiles::read_folded;

    use super::*;

    fn page() -> WatchPage {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let options =
            ListenOptions { address, auth_file: None, auth_option: "", hosts: Vec::new() };
        WatchPage::start(Listener::bind(options).unwrap()).unwrap()
    }

    fn window(pid: u32, samples: u64, period_nanos: u64) -> NodeWindow {
        let mut profile = read_folded(format!("scheduler;m:f/1 {samples}").as_bytes()).unwrap();
        profile.capture.period_nanos = period_nanos;
        profile.capture.duration_nanos = 10_000_000_000;
        NodeWindow { pid, profiles: vec![profile], ticks: 0, has_ended: false }
    }

    fn add(page: &mut WatchPage, node: &str, window: &NodeWindow) {
        let labels = NodeLabels { node: node.to_owned(), ..NodeLabels::default() };
        let report = CheckReport::from_case(&Case::unread(Subject::default()));
        page.add(&labels, window, &report);
    }

    #[test]
    fn the_stacks_are_those_of_all_nodes_together() {
        let mut page = page();
        add(&mut page, "rabbit@a", &window(1, 30, 50_000_000));
        add(&mut page, "", &window(2, 12, 50_000_000));
        page.show(|_| true);
        let sum = page.server.profile(Duration::from_secs(60)).unwrap();
        assert_eq!(sum.total(), 42);
        let roots: Vec<&str> = sum
            .samples
            .iter()
            .map(|sample| sum.frames.get(sample.stack[0].frame).name.as_str())
            .collect();
        assert!(roots.contains(&"rabbit@a") && roots.contains(&"pid 2"), "{roots:?}");
        assert!(page.waiting.is_empty());
        page.end();
    }

    #[test]
    fn recordings_with_different_settings_are_left_out_of_the_stacks_alone() {
        let mut page = page();
        add(&mut page, "rabbit@a", &window(1, 30, 50_000_000));
        add(&mut page, "rabbit@b", &window(2, 12, 10_000_000));
        page.show(|pid| pid == 1);
        assert!(page.server.profile(Duration::from_secs(60)).is_none());
        add(&mut page, "rabbit@a", &window(1, 5, 50_000_000));
        page.show(|_| true);
        assert_eq!(page.server.profile(Duration::from_secs(60)).unwrap().total(), 5);
    }
}
