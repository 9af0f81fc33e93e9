//! The nodes that are asked, by pid.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::Sender,
    },
    time::Duration,
};

use rabbitscope_export::NodeLabels;
use rabbitscope_terminal::output;

use super::asked_node::{AskedNode, NodeReading, Report};
use crate::{config::InsideOptions, inbox::Event, labelled_window::LabelledWindow};

/// All nodes that are asked; none if the configuration does not allow it.
pub(crate) struct AskedNodes {
    options: Option<InsideOptions>,
    /// Interval between readings of figures; `None` if no exporter takes them.
    figures: Option<Duration>,
    report: Report,
    nodes: HashMap<u32, AskedNode>,
    /// Nodes whose thread could not be started, which the user was told.
    without: HashSet<u32>,
    /// Number of accepted windows that have not returned.
    pub(crate) outstanding: usize,
}

impl AskedNodes {
    /// Creates an empty set of nodes.
    pub(crate) fn new(
        options: Option<InsideOptions>,
        figures: Option<Duration>,
        events: Sender<Event>,
    ) -> Self {
        let report = Report { events, failed: Arc::new(AtomicU64::new(0)) };
        let (nodes, without) = (HashMap::new(), HashSet::new());
        Self { options, figures, report, nodes, without, outstanding: 0 }
    }

    /// Applies new options. If they differ, all nodes are connected to again.
    pub(crate) fn reload(&mut self, options: Option<InsideOptions>, figures: Option<Duration>) {
        if (&self.options, self.figures) != (&options, figures) {
            self.nodes.clear();
        }
        (self.options, self.figures) = (options, figures);
    }

    /// Asks exactly the recorded nodes.
    pub(crate) fn follow(&mut self, recorded: &HashMap<u32, Arc<NodeLabels>>) {
        let Some(options) = &self.options else { return };
        self.nodes.retain(|pid, _| recorded.contains_key(pid));
        self.without.retain(|pid| recorded.contains_key(pid));
        for (&pid, labels) in recorded.iter().filter(|(_, labels)| !labels.node.is_empty()) {
            if self.nodes.contains_key(&pid) {
                continue;
            }
            match AskedNode::start(pid, &labels.node, options.clone(), self.figures, &self.report) {
                Ok(node) => {
                    self.nodes.insert(pid, node);
                    self.without.remove(&pid);
                }
                Err(error) if self.without.insert(pid) => {
                    output::note(&format!("{} is not asked: no thread: {error}", labels.node));
                }
                Err(_) => {}
            }
        }
    }

    /// Offers a window, which returns as an event with the names of its processes. A window that cannot be accepted is
    /// returned at once.
    pub(crate) fn offer(&mut self, window: LabelledWindow) -> Option<LabelledWindow> {
        let Some(node) = self.nodes.get(&window.window.pid) else { return Some(window) };
        let refused = node.offer(window);
        self.outstanding += usize::from(refused.is_none());
        refused
    }

    /// Returns the latest reading of a node; `None` if it is not asked for figures.
    pub(crate) fn reading(&self, pid: u32) -> Option<NodeReading> {
        self.figures?;
        self.nodes.get(&pid).map(AskedNode::reading)
    }

    /// Returns the number of failed readings so far.
    pub(crate) fn failed(&self) -> u64 {
        self.report.failed.load(Ordering::Relaxed)
    }

    /// Stops asking. Accepted windows still return.
    pub(crate) fn end(&mut self) {
        self.nodes.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_failed_stays_counted_when_the_node_has_ended() {
        let place = tempfile::tempdir().unwrap();
        // The file does not exist, so no connection is made.
        let cookie_file = Some(place.path().join("cookie"));
        let (events, _inbox) = channel();
        let options = InsideOptions { cookie_file, epmd_port: 1 };
        let mut asked = AskedNodes::new(Some(options), None, events);
        let labels = NodeLabels { node: "a@localhost".to_owned(), ..NodeLabels::default() };
        asked.follow(&HashMap::from([(u32::MAX, Arc::new(labels))]));
        let until = std::time::Instant::now() + Duration::from_secs(30);
        while asked.failed() == 0 {
            assert!(std::time::Instant::now() < until, "nobody connects without a cookie");
            std::thread::yield_now();
        }
        asked.follow(&HashMap::new());
        assert!(asked.nodes.is_empty());
        assert_eq!(asked.failed(), 1);
    }
}
