//! An exporter whose configuration is valid.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

/// What the backend understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExporterKind {
    /// Profiles for Pyroscope: `push.v1.PusherService/Push`.
    Pyroscope,
    /// Profiles for Parca: `profiles/writeraw`.
    Parca,
    /// Profiles in OTLP over HTTP, which is in development: `v1development/profiles`.
    OtlpProfiles,
    /// Metrics in Prometheus remote write 1.0.
    RemoteWrite,
    /// Metrics as lines of Influx.
    Influx,
}

impl ExporterKind {
    /// The word of the configuration file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pyroscope => "pyroscope",
            Self::Parca => "parca",
            Self::OtlpProfiles => "otlp-profiles",
            Self::RemoteWrite => "remote-write",
            Self::Influx => "influx",
        }
    }

    /// Whether it takes profiles; the others take metrics.
    pub fn takes_profiles(self) -> bool {
        matches!(self, Self::Pyroscope | Self::Parca | Self::OtlpProfiles)
    }
}

/// Where a request's credentials come from. They are read when exporting starts, and never shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// None.
    Nobody,
    /// Basic authentication.
    Password {
        /// The user.
        user: String,
        /// The file with the password.
        file: PathBuf,
    },
    /// A token (`Authorization: Bearer`).
    Token {
        /// The file with the token.
        file: PathBuf,
    },
}

/// Whose certificates are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTrust {
    /// Those that the system's authorities have signed.
    System,
    /// Those that the authorities in this PEM file have signed.
    Authorities(PathBuf),
    /// Everybody's.
    Anybody,
}

/// One exporter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExporterOptions {
    /// Unique among the exporters; a label of its figures.
    pub name: String,
    /// What the backend understands.
    pub kind: ExporterKind,
    /// Complete, without credentials.
    pub url: String,
    /// Limit for one request.
    pub timeout: Duration,
    /// How it authenticates itself.
    pub credentials: Credentials,
    /// Tenant of the backend (header `X-Scope-OrgID`).
    pub tenant: Option<String>,
    /// Whose certificates are accepted.
    pub trust: ServerTrust,
}
