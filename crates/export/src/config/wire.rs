//! The written form of `[[exporters]]`.

use serde::{Deserialize, Serialize};

use super::ExporterKind;

/// A table `[[exporters]]`. An unknown key is an error.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ExporterToml {
    pub(super) kind: ExporterKind,
    pub(super) url: String,
    pub(super) name: Option<String>,
    pub(super) timeout: Option<String>,
    pub(super) user: Option<String>,
    pub(super) password_file: Option<String>,
    pub(super) token_file: Option<String>,
    pub(super) tenant: Option<String>,
    pub(super) ca: Option<String>,
    pub(super) insecure: Option<bool>,
}
