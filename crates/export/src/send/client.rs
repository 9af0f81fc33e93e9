//! The HTTP client of an exporter.

use std::fmt;

use ureq::{Agent, RequestExt, http::Request};
use zeroize::Zeroizing;

use super::{
    answer::Answer,
    credentials::{authorization, tls},
};
use crate::{ExportError, ExporterKind, ExporterOptions};

/// A client with one connection. The authorization is never shown.
pub(crate) struct Client {
    agent: Agent,
    kind: ExporterKind,
    url: String,
    tenant: Option<String>,
    authorization: Option<Zeroizing<String>>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({})", self.kind.name())
    }
}

impl Client {
    /// Reads the exporter's files and creates the client.
    pub(crate) fn new(exporter: &ExporterOptions) -> Result<Self, ExportError> {
        let config = Agent::config_builder()
            .timeout_global(Some(exporter.timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections_per_host(1)
            .https_only(exporter.url.starts_with("https://"))
            .user_agent(concat!("rabbitscope/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls(exporter)?)
            .build();
        Ok(Self {
            agent: Agent::new_with_config(config),
            kind: exporter.kind,
            url: exporter.url.clone(),
            tenant: exporter.tenant.clone(),
            authorization: authorization(exporter)?,
        })
    }

    /// Sends a request. Time is bounded by the exporter's timeout, memory by the limit on answers.
    pub(super) fn send(&self, body: &[u8]) -> Answer {
        let mut request = Request::post(&self.url);
        for (name, value) in headers(self.kind) {
            request = request.header(*name, *value);
        }
        if let Some(tenant) = &self.tenant {
            request = request.header("X-Scope-OrgID", tenant);
        }
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization.as_str());
        }
        let answer = match request.body(body) {
            Ok(request) => request.with_agent(&self.agent).run(),
            Err(error) => Err(ureq::Error::from(error)),
        };
        match answer {
            Ok(response) => Answer::from_response(self.kind, response),
            Err(error) => Answer::from_error(&error),
        }
    }
}

fn headers(kind: ExporterKind) -> &'static [(&'static str, &'static str)] {
    match kind {
        ExporterKind::Pyroscope => {
            &[("Content-Type", "application/proto"), ("Connect-Protocol-Version", "1")]
        }
        ExporterKind::Parca => &[("Content-Type", "application/json")],
        ExporterKind::OtlpProfiles => {
            &[("Content-Type", "application/x-protobuf"), ("Content-Encoding", "gzip")]
        }
        ExporterKind::RemoteWrite => &[
            ("Content-Type", "application/x-protobuf"),
            ("Content-Encoding", "snappy"),
            ("X-Prometheus-Remote-Write-Version", "0.1.0"),
        ],
        ExporterKind::Influx => &[("Content-Type", "text/plain; charset=utf-8")],
    }
}
