//! The parts of a page.

use rabbitscope_diagnosis::Brief;
use serde::Serialize;

use super::{
    chart::{Chart, Charts},
    finding::FindingData,
    table::Table,
    text::Sentence,
};
use crate::figures::Figure;

/// A page without a run and without a profile.
#[derive(Serialize)]
pub(crate) struct Document {
    pub(crate) title: String,
    /// Short facts below the title.
    pub(crate) facts: Vec<String>,
    pub(crate) sections: Vec<Section>,
}

/// A part of the page with its heading.
#[derive(Serialize)]
pub(crate) struct Section {
    /// Anchor of links; unique in the document.
    pub(crate) id: String,
    /// Empty for a part without a heading.
    pub(crate) title: String,
    /// Explanation below the heading; empty for none.
    pub(crate) intro: String,
    pub(crate) blocks: Vec<Block>,
}

/// One block.
#[derive(Serialize)]
pub(crate) struct Block {
    /// Unique in the document.
    id: String,
    #[serde(flatten)]
    content: Content,
}

/// The contents of a block.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Content {
    /// The main figures of a subject.
    Tiles { label: &'static str, figures: Vec<Figure> },
    /// A table.
    Table(Table),
    /// Charts side by side.
    Charts(Charts),
    /// Sentences, one below the other.
    Sentences { sentences: Vec<Sentence> },
    /// Findings, worst first.
    Findings { findings: Vec<FindingData> },
    /// Links to other pages.
    Links { links: Vec<Link> },
    /// The limit of a subject and its findings, as a report has them; none if nothing was judged yet.
    Limit { note: String, brief: Option<Brief> },
    /// The place of the profile of a live page, which fetches it. A document has one at most.
    Stacks,
    /// Blocks that the reader unfolds.
    Details { summary: String, blocks: Vec<Block> },
}

/// A link to a file beside the page.
#[derive(Serialize)]
pub(crate) struct Link {
    pub(crate) text: String,
    pub(crate) href: String,
}

impl Section {
    /// Creates a section without explanation.
    pub(crate) fn new(id: &str, title: &str, blocks: Vec<Block>) -> Self {
        let [id, title] = [id, title].map(str::to_owned);
        Self { id, title, intro: String::new(), blocks }
    }

    /// Adds an explanation.
    pub(crate) fn explained(self, intro: impl Into<String>) -> Self {
        Self { intro: intro.into(), ..self }
    }
}

impl Block {
    /// Creates a block.
    pub(crate) fn new(id: impl Into<String>, content: Content) -> Self {
        Self { id: id.into(), content }
    }

    /// Creates a block with one chart, in full width.
    pub(crate) fn chart(id: impl Into<String>, chart: Chart) -> Self {
        Self::new(id, Content::Charts(Charts { charts: vec![chart], shared: Vec::new() }))
    }

    /// Creates a block of sentences.
    pub(crate) fn sentences(id: impl Into<String>, sentences: Vec<Sentence>) -> Self {
        Self::new(id, Content::Sentences { sentences })
    }
}
