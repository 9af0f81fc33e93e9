//! The broker that the worker's user names, with its login and the authorities of its certificate.

use rabbitscope_amqp::Uri;
use rabbitscope_fleet::OwnBroker;
use rabbitscope_runs::scenario::{Auth, Connecting, Tls};
use rabbitscope_topology::Dialer;

use super::run::URI_VARIABLE;

/// The options as typed.
#[derive(Debug, clap::Args)]
#[group(id = "OwnBrokerArgs", multiple = true)]
pub(super) struct OwnBrokerArgs {
    /// Use this broker instead of the one from the controller
    ///
    /// The broker's password then stays off the bus. The options below define the connection, not the controller's
    /// scenario.
    #[arg(long, env = URI_VARIABLE, hide_env_values = true)]
    uri: Option<String>,
    /// PEM file with authorities to trust for `--uri` [default: those of the system]
    #[arg(long, value_name = "FILE", requires = "uri")]
    tls_ca: Option<String>,
    /// PEM file with this worker's certificate for `--uri`
    #[arg(long, value_name = "FILE", requires_all = ["uri", "tls_key"])]
    tls_certificate: Option<String>,
    /// PEM file with the private key of `--tls-certificate`
    #[arg(long, value_name = "FILE", requires_all = ["uri", "tls_certificate"])]
    tls_key: Option<String>,
    /// Name in the broker's certificate [default: the host of `--uri`]
    #[arg(long, value_name = "NAME", requires = "uri")]
    tls_server_name: Option<String>,
    /// Do not verify the certificate of `--uri`
    ///
    /// Any server that answers at that address gets the password.
    #[arg(long, requires = "uri", conflicts_with = "tls_ca")]
    tls_unchecked: bool,
    /// Log in to `--uri` by certificate (EXTERNAL) instead of the URI's password
    #[arg(long, requires_all = ["uri", "tls_certificate"], conflicts_with = "token_file")]
    auth_external: bool,
    /// Log in to `--uri` with the OAuth 2 token in this file instead of the URI's password
    #[arg(long, value_name = "FILE", requires = "uri")]
    token_file: Option<String>,
}

impl OwnBrokerArgs {
    /// Returns `None` if the controller names the broker. Files are read once here, so that an error shows before a
    /// run comes.
    pub(super) fn validate(self) -> anyhow::Result<Option<OwnBroker>> {
        let Some(uri) = self.uri else { return Ok(None) };
        let auth = match self.token_file {
            Some(file) => Auth::Token { file },
            None if self.auth_external => Auth::External,
            None => Auth::Plain,
        };
        let tls = Tls {
            ca: self.tls_ca,
            cert: self.tls_certificate,
            key: self.tls_key,
            server_name: self.tls_server_name,
            verify: !self.tls_unchecked,
        };
        let connecting =
            Connecting { auth: auth.clone(), tls: tls.clone(), ..Connecting::default() };
        Dialer::new(vec![Uri::parse(&uri)?], &connecting, 1)?;
        Ok(Some(OwnBroker { uri, auth, tls }))
    }
}
