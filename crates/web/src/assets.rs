//! The built page, from `build.rs`.

/// The script of the page.
pub(crate) const PAGE_SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/ui/dist/page.js"));

/// The style sheet of the page.
pub(crate) const PAGE_STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/ui/dist/page.css"));

/// The script inside an SVG flame graph.
pub(crate) const SVG_SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/ui/dist/svg.js"));
