//! The validated options.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use rabbitscope_artifacts::archive::ArchiveLimits;
use rabbitscope_export::{ExporterOptions, SpoolOptions};
use rabbitscope_http::Host;
use rabbitscope_probe::NodeOrigin;

use super::pattern::Pattern;

/// The settings of `watch`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WatchOptions {
    pub(crate) freq_hz: u32,
    pub(crate) window: Duration,
    pub(crate) has_off_cpu: bool,
    pub(crate) nodes: NodeChoice,
    /// The user's name for the broker.
    pub(crate) service: Option<String>,
    pub(crate) cluster: String,
    /// `None` if nodes are not asked for roles, queues and figures.
    pub(crate) inside: Option<InsideOptions>,
    pub(crate) metrics_interval: Duration,
    pub(crate) listen: Option<ScrapeOptions>,
    pub(crate) directory: Option<DirectoryOptions>,
    pub(crate) spool: SpoolOptions,
    pub(crate) exporters: Vec<ExporterOptions>,
    /// A live page shows the nodes.
    pub(crate) is_served: bool,
}

/// Access to nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InsideOptions {
    /// The cookie file; the usual places if absent.
    pub(crate) cookie_file: Option<PathBuf>,
    pub(crate) epmd_port: u16,
}

/// The listener that Prometheus can scrape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScrapeOptions {
    pub(crate) address: SocketAddr,
    /// The file with the credentials for clients on other machines.
    pub(crate) auth_file: Option<PathBuf>,
    pub(crate) hosts: Vec<Host>,
}

impl WatchOptions {
    /// Returns whether a listener or an exporter takes metrics.
    pub(crate) fn takes_metrics(&self) -> bool {
        self.listen.is_some()
            || self.exporters.iter().any(|exporter| !exporter.kind.takes_profiles())
    }

    /// Returns whether metrics or the live page have the limit of each window.
    pub(crate) fn takes_judgements(&self) -> bool {
        self.takes_metrics() || self.is_served
    }
}

/// The directory for windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DirectoryOptions {
    pub(crate) path: PathBuf,
    pub(crate) limits: ArchiveLimits,
}

/// The selection of recorded nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeChoice {
    /// Patterns of included names; empty for all.
    pub(super) only: Vec<Pattern>,
    pub(super) except: Vec<Pattern>,
    /// Includes VMs that were not started for RabbitMQ.
    pub(super) every_vm: bool,
}

impl NodeChoice {
    /// Returns whether a node is selected.
    pub(crate) fn has(&self, origin: &NodeOrigin) -> bool {
        let name = origin.name.as_deref().unwrap_or_default();
        let is_named = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.has(name));
        (origin.is_rabbitmq || self.every_vm)
            && (self.only.is_empty() || is_named(&self.only))
            && !is_named(&self.except)
    }
}
