//! The live page of a run: its blocks, and their changes by seconds.

use std::collections::VecDeque;

use rabbitscope_diagnosis::Brief;
use rabbitscope_runs::record::{BrokerFacts, RunRecord, SecondRow};

use super::{LiveHead, LivePage, Tick, charts::LiveCharts, latest::figures_of_second};
use crate::{
    checks::sentence,
    document::{Block, Content, Document, Section, Sentence, Tone},
    figures::Figure,
};

/// Limit of the notices on the page; the oldest ones go.
const MAX_NOTICES: usize = 20;

/// The run as the page has it.
#[derive(Default)]
pub struct LiveRun {
    charts: LiveCharts,
    notices: VecDeque<String>,
    broker: Option<String>,
}

impl LiveRun {
    /// Returns the shell of the page.
    pub fn page(run: &RunRecord, has_profile: bool) -> LivePage {
        LivePage { title: run.name.clone(), profile: has_profile }
    }

    /// Returns the blocks before the first second.
    pub fn head(run: &RunRecord, has_profile: bool) -> LiveHead {
        let limit = Content::Limit { note: String::new(), brief: None };
        let now = vec![
            Block::sentences("state", vec![Sentence::new("Starting.", Tone::Plain)]),
            Block::new("limit", limit),
            tiles("Latest second", Vec::new()),
        ];
        let over_time = vec![LiveCharts::empty()];
        let mut sections =
            vec![Section::new("now", "", now), Section::new("over-time", "Over time", over_time)];
        if has_profile {
            let stacks = vec![Block::new("stacks", Content::Stacks)];
            sections.push(Section::new("profile", "Profile", stacks));
        }
        sections.push(Section::new("events", "Notices", vec![notices(&VecDeque::new())]));
        let facts = [&run.description, &run.machine.cpu].into_iter();
        let facts = facts.filter(|fact| !fact.is_empty()).cloned().collect();
        LiveHead(Document { title: run.name.clone(), facts, sections })
    }

    /// Adds the state of the run.
    pub fn state(&self, tick: &mut Tick, text: &str) {
        let broker = self.broker.iter().map(|broker| Sentence::new(broker, Tone::Soft));
        let state = [Sentence::new(sentence(text), Tone::Plain)].into_iter();
        tick.replace(Block::sentences("state", state.chain(broker).collect()));
    }

    /// Sets the broker, which the states after this name.
    pub fn set_broker(&mut self, facts: &BrokerFacts) {
        let nodes = match facts.nodes.len() {
            0 | 1 => String::new(),
            count => format!(", {count} nodes"),
        };
        let BrokerFacts { product, version, platform, address, .. } = facts;
        self.broker = Some(format!("{product} {version} on {platform} at {address}{nodes}."));
    }

    /// Adds a notice.
    pub fn notice(&mut self, tick: &mut Tick, text: &str) {
        self.notices.push_back(sentence(text));
        if self.notices.len() > MAX_NOTICES {
            self.notices.pop_front();
        }
        tick.replace(notices(&self.notices));
    }

    /// Adds the latest of the seconds `rows`. `run` has the totals so far.
    pub fn second(&mut self, tick: &mut Tick, run: &RunRecord, rows: &[SecondRow]) {
        if let Some(row) = rows.last().filter(|row| !row.draining) {
            let label = if row.warming { "Latest second, warm-up" } else { "Latest second" };
            tick.replace(tiles(label, figures_of_second(run, row)));
        }
        self.charts.add(tick, rows);
    }

    /// Adds the limit and the findings of the latest seconds. `note` says which.
    pub fn limit(tick: &mut Tick, note: &str, brief: Brief) {
        let limit = Content::Limit { note: note.to_owned(), brief: Some(brief) };
        tick.replace(Block::new("limit", limit));
    }
}

fn tiles(label: &'static str, figures: Vec<Figure>) -> Block {
    Block::new("figures", Content::Tiles { label, figures })
}

fn notices(texts: &VecDeque<String>) -> Block {
    let sentences = texts.iter().rev().map(|text| Sentence::new(text, Tone::Note));
    let none = texts.is_empty().then(|| Sentence::new("None so far.", Tone::Soft));
    Block::sentences("notices", sentences.chain(none).collect())
}
