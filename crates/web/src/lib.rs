//! What people look at: the self-contained HTML report and the SVG flame graph.
//!
//! What lives here: turning records, series and profiles into the data of the page, and the page
//! around it (built from `ui/`); pages without scripts of experiments, of packets and of all day. What deliberately does not: measuring, files and servers. The page
//! lays out what is computed here; `docs/formats.md` describes the data it is given.

mod assets;
mod axis;
mod checks;
mod curve;
mod escape;
mod experiment;
mod figures;
mod heat_map;
mod more_charts;
mod packets;
mod page;
mod report;
mod spectrum;
mod svg;

pub use curve::write_curve;
pub use experiment::write_experiment;
pub use heat_map::{BusyWindow, write_heat_map};
pub use packets::write_packets;
pub use page::diff::{CostOfMessages, DiffReport, NamedProfile};
pub use page::packets::RunPackets;
pub use page::whole::Report;
pub use report::{write_diff, write_report};
pub use svg::write_svg;
