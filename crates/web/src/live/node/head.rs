//! The page before anything is known.

use super::{
    charts::{CHARTS, charts},
    clients, flow, look, processes, queues,
    second::NodeSecond,
    state::NodeState,
    tiles::tiles,
};
use crate::{
    document::{Block, Content, Document, Section},
    live::head::LiveHead,
};

/// Facts about a node that do not change while its page is shown.
#[derive(Clone, Debug)]
pub struct NodeHead {
    /// Erlang name of the node; its address if the name is unknown.
    pub node: String,
    /// Short facts below the title.
    pub facts: Vec<String>,
    /// True if a profile can be recorded, because the node is a process of this machine.
    pub has_profile: bool,
}

impl NodeHead {
    /// Returns all blocks, in the order of a reader's questions.
    pub fn live_head(&self) -> LiveHead {
        let mut sections = vec![now()];
        if self.has_profile {
            let stacks = vec![Block::new("stacks", Content::Stacks)];
            let title = "CPU time by stack";
            sections.push(Section::new("profile", title, stacks));
        }
        sections.extend(of_looks());
        sections.push(Section::new(
            "time",
            "Over time",
            vec![Block::new(CHARTS, Content::Charts(charts()))],
        ));
        sections.push(Section::new("sources", "Not shown", vec![look::unread(&[])]));
        LiveHead(Document { title: self.node.clone(), facts: self.facts.clone(), sections })
    }
}

/// Returns the limit, the state of the observation, and the tiles.
fn now() -> Section {
    let blocks = vec![
        NodeState::default().block(),
        look::no_limit(),
        tiles(&NodeSecond::default()),
        Block::sentences("costs", Vec::new()),
    ];
    Section::new("now", "", blocks)
}

fn of_looks() -> [Section; 4] {
    let [queues, more_queues] = queues::empty();
    let [processes, more_processes] = processes::empty();
    let [clients, more_clients] = clients::empty();
    [
        Section::new("waiting", "Flow control", vec![flow::empty()]),
        Section::new("of-queues", "Queues", vec![queues, more_queues]),
        Section::new("of-processes", "Busiest processes", vec![processes, more_processes]),
        Section::new("of-clients", "Clients", vec![clients, more_clients]),
    ]
}
