//! The written form of the file. Unknown keys are refused.

use rabbitscope_export::ExporterToml;
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WatchToml {
    pub(super) record: RecordToml,
    pub(super) nodes: NodesToml,
    pub(super) labels: LabelsToml,
    pub(super) inside: InsideToml,
    pub(super) metrics: MetricsToml,
    pub(super) directory: Option<DirectoryToml>,
    pub(super) spool: SpoolToml,
    pub(super) exporters: Vec<ExporterToml>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct RecordToml {
    pub(super) frequency: Option<u32>,
    pub(super) window: Option<String>,
    pub(super) off_cpu: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct NodesToml {
    pub(super) only: Vec<String>,
    pub(super) except: Vec<String>,
    pub(super) every_vm: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct LabelsToml {
    pub(super) service: Option<String>,
    pub(super) cluster: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct InsideToml {
    pub(super) ask: bool,
    pub(super) cookie_file: Option<String>,
    pub(super) epmd_port: Option<u16>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct MetricsToml {
    pub(super) interval: Option<String>,
    pub(super) listen: Option<String>,
    pub(super) auth_file: Option<String>,
    pub(super) allow_hosts: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct DirectoryToml {
    pub(super) path: String,
    pub(super) max_age: Option<String>,
    pub(super) max_size: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct SpoolToml {
    pub(super) directory: Option<String>,
    pub(super) max_size: Option<String>,
}
