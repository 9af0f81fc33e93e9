//! `[[exporters]]` of the configuration file: as it is written ([`ExporterToml`]), and what is valid
//! ([`ExporterOptions`]).

mod options;
mod validate;
mod wire;

pub use options::{Credentials, ExporterKind, ExporterOptions, ServerTrust};
pub use validate::{ConfigProblem, validate_exporters};
pub use wire::ExporterToml;
