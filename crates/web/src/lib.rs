//! Pages for people: self-contained HTML files, and the SVG flame graph.
//!
//! This crate turns records, series and profiles into the data of the page, and writes the page around it (built from
//! `ui/`). Pages of experiments, searches, packets and whole days are documents of blocks. Measuring, files and servers
//! are elsewhere. The page only lays out the results of this crate; `docs/reference/formats.md` describes its data.

mod assets;
mod checks;
mod curve;
mod document;
mod escape;
mod experiment;
mod figures;
mod heat_map;
mod history;
mod live;
mod more_charts;
mod packets;
mod page;
mod report;
mod spectrum;
mod svg;

pub use curve::write_curve;
pub use experiment::write_experiment;
pub use heat_map::{BusyWindow, write_heat_map};
pub use history::{ComparedRun, HistoryQuery, PairReport, write_history, write_pair};
pub use live::{
    LIVE_POLICY, LiveHead, LiveNodes, LivePage, LiveRun, NodeHead, NodeLook, NodeSecond, NodeState,
    ProfileSpan, Tick, WatchedNode, live_profile, write_live_page,
};
pub use packets::write_packets;
pub use page::columns::ColumnsError;
pub use page::diff::{CostOfMessages, DiffReport, NamedProfile};
pub use page::packets::RunPackets;
pub use page::reading::{PageError, is_page, read_page_with};
pub use page::whole::{OtherPage, Report};
pub use report::{write_diff, write_report};
pub use svg::write_svg;
