//! The built page, from `build.rs`.

/// The script of a page that is a file.
pub(crate) const PAGE_SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/ui/dist/page.js"));

/// The script of a live page.
pub(crate) const LIVE_SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/ui/dist/live.js"));

/// The style sheet of all pages.
pub(crate) const PAGE_STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/ui/dist/page.css"));

/// The script inside an SVG flame graph.
pub(crate) const SVG_SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/ui/dist/svg.js"));
