//! `[[exporters]]` of the configuration file: the written form ([`ExporterToml`]) and the validated form
//! ([`ExporterOptions`]).

mod options;
mod validate;
mod wire;

pub use options::{Credentials, ExporterKind, ExporterOptions, ServerTrust};
pub use validate::{ConfigProblem, validate_exporters};
pub use wire::ExporterToml;
