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

use super::asked_node::{AskedNode, NodeReading, Report};
use crate::{
    continuous::{config::InsideOptions, inbox::Event, labelled_window::LabelledWindow},
    output,
};

/// All nodes that are asked. None, where the configuration does not allow it.
pub(in crate::continuous) struct AskedNodes {
    options: Option<InsideOptions>,
    /// How often figures are read; `None` where nobody takes them.
    figures: Option<Duration>,
    report: Report,
    nodes: HashMap<u32, AskedNode>,
    /// Nodes for which there is no thread, and whose names were said.
    without: HashSet<u32>,
    /// Windows that were handed over and are not back.
    pub(in crate::continuous) outstanding: usize,
}

impl AskedNodes {
    /// No node is asked yet.
    pub(in crate::continuous) fn new(
        options: Option<InsideOptions>,
        figures: Option<Duration>,
        events: Sender<Event>,
    ) -> Self {
        let report = Report { events, failed: Arc::new(AtomicU64::new(0)) };
        let (nodes, without) = (HashMap::new(), HashSet::new());
        Self { options, figures, report, nodes, without, outstanding: 0 }
    }

    /// Applies other options: all nodes are connected to again, if they are different.
    pub(in crate::continuous) fn reload(
        &mut self,
        options: Option<InsideOptions>,
        figures: Option<Duration>,
    ) {
        if (&self.options, self.figures) != (&options, figures) {
            self.nodes.clear();
        }
        (self.options, self.figures) = (options, figures);
    }

    /// Asks the nodes that are recorded, and no others.
    pub(in crate::continuous) fn follow(&mut self, recorded: &HashMap<u32, Arc<NodeLabels>>) {
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

    /// Hands a window over, which comes back as an event with the names of its processes. One that cannot be taken is
    /// given back at once.
    pub(in crate::continuous) fn offer(
        &mut self,
        window: LabelledWindow,
    ) -> Option<LabelledWindow> {
        let Some(node) = self.nodes.get(&window.window.pid) else { return Some(window) };
        let refused = node.offer(window);
        self.outstanding += usize::from(refused.is_none());
        refused
    }

    /// What was read of a node last; `None` where it is not asked for figures.
    pub(in crate::continuous) fn reading(&self, pid: u32) -> Option<NodeReading> {
        self.figures?;
        self.nodes.get(&pid).map(AskedNode::reading)
    }

    /// Readings that failed so far.
    pub(in crate::continuous) fn failed(&self) -> u64 {
        self.report.failed.load(Ordering::Relaxed)
    }

    /// Asks nobody any longer. Windows that were handed over still come back.
    pub(in crate::continuous) fn end(&mut self) {
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
        // There is no such file, so that nobody is connected to.
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
