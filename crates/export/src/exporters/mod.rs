//! All exporters of a configuration: what they are given, and what became of it.

mod cpu_by_label;
mod encoder;
mod endpoint;
mod exporter;
mod figures;
mod options;
mod running;
mod unencoded;

pub use figures::ExporterFigures;
pub use options::{ExportOptions, SpoolOptions};
pub use running::Exporters;
