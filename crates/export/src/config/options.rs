//! Validated options of an exporter.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

/// Protocol of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExporterKind {
    /// Profiles for Pyroscope: `push.v1.PusherService/Push`.
    Pyroscope,
    /// Profiles for Parca: `profiles/writeraw`.
    Parca,
    /// Profiles in OTLP over HTTP (`v1development/profiles`), a signal that is still in development.
    OtlpProfiles,
    /// Metrics in Prometheus remote write 1.0.
    RemoteWrite,
    /// Metrics in the Influx line protocol.
    Influx,
}

impl ExporterKind {
    /// Returns the name in the configuration file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pyroscope => "pyroscope",
            Self::Parca => "parca",
            Self::OtlpProfiles => "otlp-profiles",
            Self::RemoteWrite => "remote-write",
            Self::Influx => "influx",
        }
    }

    /// Returns true if it takes profiles; the others take metrics.
    pub fn takes_profiles(self) -> bool {
        matches!(self, Self::Pyroscope | Self::Parca | Self::OtlpProfiles)
    }
}

/// Source of a request's credentials. They are read when exporting starts, and never shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// No credentials.
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
        /// File with the token.
        file: PathBuf,
    },
}

/// Certificates that an exporter accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTrust {
    /// Certificates that the system's authorities have signed.
    System,
    /// Certificates that the authorities in this PEM file have signed.
    Authorities(PathBuf),
    /// Any certificate.
    Anybody,
}

/// Options of one exporter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExporterOptions {
    /// Name, unique among the exporters; a label of its figures.
    pub name: String,
    /// Protocol of the backend.
    pub kind: ExporterKind,
    /// Complete URL, without credentials.
    pub url: String,
    /// Timeout of a request.
    pub timeout: Duration,
    /// Credentials of requests.
    pub credentials: Credentials,
    /// Tenant of the backend (header `X-Scope-OrgID`).
    pub tenant: Option<String>,
    /// Certificates that the exporter accepts.
    pub trust: ServerTrust,
}
