//! What people look at: the self-contained HTML report and the SVG flame graph.
//!
//! What lives here: turning records, series and profiles into the data of the page, and the page
//! around it (built from `ui/`). What deliberately does not: measuring, files and servers.

mod report;
mod svg;

pub use report::{Report, write_report};
pub use svg::write_svg;
