//! What is valid.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use rabbitscope_export::{ExporterOptions, SpoolOptions};
use rabbitscope_http::Host;
use rabbitscope_probe::NodeOrigin;

use super::pattern::Pattern;
use crate::archive::ArchiveLimits;

/// What `watch` does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WatchOptions {
    pub(crate) freq_hz: u32,
    pub(crate) window: Duration,
    pub(crate) has_off_cpu: bool,
    pub(crate) nodes: NodeChoice,
    /// What the user calls the broker.
    pub(crate) service: Option<String>,
    pub(crate) cluster: String,
    /// `None`: nodes are not asked for roles, queues and figures.
    pub(crate) inside: Option<InsideOptions>,
    pub(crate) metrics_interval: Duration,
    pub(crate) listen: Option<ScrapeOptions>,
    pub(crate) directory: Option<DirectoryOptions>,
    pub(crate) spool: SpoolOptions,
    pub(crate) exporters: Vec<ExporterOptions>,
}

/// How nodes are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InsideOptions {
    /// The usual places, when absent.
    pub(crate) cookie_file: Option<PathBuf>,
    pub(crate) epmd_port: u16,
}

/// Where Prometheus may scrape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScrapeOptions {
    pub(crate) address: SocketAddr,
    /// What clients of other machines need.
    pub(crate) auth_file: Option<PathBuf>,
    pub(crate) hosts: Vec<Host>,
}

impl WatchOptions {
    /// Whether anybody takes metrics.
    pub(crate) fn takes_metrics(&self) -> bool {
        self.listen.is_some() || self.exporters.iter().any(|it| !it.kind.takes_profiles())
    }
}

/// Where windows are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DirectoryOptions {
    pub(crate) path: PathBuf,
    pub(crate) limits: ArchiveLimits,
}

/// Which nodes are recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeChoice {
    /// All, when empty.
    pub(super) only: Vec<Pattern>,
    pub(super) except: Vec<Pattern>,
    /// Also VMs that were not told to start RabbitMQ.
    pub(super) every_vm: bool,
}

impl NodeChoice {
    /// Whether a node is to be recorded.
    pub(crate) fn has(&self, origin: &NodeOrigin) -> bool {
        let name = origin.name.as_deref().unwrap_or_default();
        let is_named = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.has(name));
        (origin.is_rabbitmq || self.every_vm)
            && (self.only.is_empty() || is_named(&self.only))
            && !is_named(&self.except)
    }
}
