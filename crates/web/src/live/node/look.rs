//! A look at the node: the limit, flow control and the tables, as a check found them.

use rabbitscope_diagnosis::{Brief, Case, CheckReport, Costs, Source, Unread};

use super::{clients, flow, processes, queues};
use crate::{
    checks::capitalised,
    document::{Block, Content, Sentence, Tone},
    live::{rows::single, tick::Tick},
};

/// A check of the node, and its judgement.
#[derive(Clone, Debug)]
pub struct NodeLook {
    /// Everything that was read.
    pub case: Case,
    /// The judgement.
    pub report: CheckReport,
}

impl NodeLook {
    /// Judges a case.
    pub fn from_case(case: Case) -> Self {
        let report = CheckReport::from_case(&case);
        Self { case, report }
    }

    /// Returns true if this source could not be read, which the page then says.
    pub fn lacks(&self, source: Source) -> bool {
        self.report.unread.iter().any(|part| part.source == source)
    }

    /// Puts the blocks of this look in the place of earlier ones.
    pub fn write(&self, tick: &mut Tick) {
        let costs = Costs::of_all(&self.case);
        let brief = Some(Brief::from_report(&self.report));
        tick.replace(Block::new("limit", Content::Limit { note: String::new(), brief }));
        tick.replace(flow::filled(&self.report, self.case.flow.is_ok()));
        tick.replace(self.costs());
        let tables = [
            queues::filled(&self.case, costs.as_ref()),
            processes::filled(&self.case),
            clients::filled(&self.case),
        ];
        tables.into_iter().flatten().for_each(|block| tick.replace(block));
        tick.replace(self.unread());
    }

    fn unread(&self) -> Block {
        match &self.report.unread[..] {
            [] => Block::sentences(
                "unread",
                vec![Sentence::new("Every source was read.", Tone::Soft)],
            ),
            parts => unread(parts),
        }
    }

    fn costs(&self) -> Block {
        let costs = self.report.costs.as_ref().map(|costs| format!("CPU time: {costs}."));
        let memory = self.report.memory.as_ref().map(|memory| format!("Memory: {memory}."));
        let texts = costs.into_iter().chain(memory);
        let sentences = texts.map(|text| Sentence::new(single(&text), Tone::Plain)).collect();
        Block::sentences("costs", sentences)
    }
}

/// Returns the block of the limit before the first look has ended.
pub(super) fn no_limit() -> Block {
    let note = "The first look at the node has not ended.".to_owned();
    Block::new("limit", Content::Limit { note, brief: None })
}

/// Returns the sources that could not be read, each once, with the remedy.
pub(super) fn unread(parts: &[Unread]) -> Block {
    let sentence = |part: &Unread| {
        let (reason, remedy) = (single(&part.reason), single(&part.remedy));
        let remedy =
            if remedy.is_empty() { String::new() } else { format!(" Next step: {remedy}.") };
        Sentence::new(format!("{}: {reason}.{remedy}", capitalised(part.source.name())), Tone::Note)
    };
    Block::sentences("unread", parts.iter().map(sentence).collect())
}
