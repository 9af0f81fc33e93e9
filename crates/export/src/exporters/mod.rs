//! All exporters of a configuration, and their figures.

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
