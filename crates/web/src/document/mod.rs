//! A page as data: sections of blocks, which the page (`ui/src/blocks`) draws.
//!
//! Figures arrive there as numbers with their unit, charts as columns of values; the page chooses digits, places and
//! colours. Texts stay texts. A block has an id, so that later data can replace it or extend its charts.

mod block;
mod chart;
mod finding;
mod form;
mod link;
mod table;
mod text;

pub(crate) use block::{Block, Content, Document, Link, Section};
pub(crate) use chart::{Axis, CellCommand, Chart, Charts, Hue, Mark, MarkKind, Measure};
pub(crate) use finding::{FindingData, source};
pub(crate) use form::{Field, Form};
pub(crate) use link::{relative_link, report_of};
pub(crate) use table::{Cell, Choice, Column, Key, Table};
pub(crate) use text::{Sentence, Tone};
