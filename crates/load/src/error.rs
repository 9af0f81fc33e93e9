//! Why a load could not be started.
//!
//! A load that has started ends with an outcome, not with an error: the outcome keeps what was
//! recorded, and its verdict says why it ended.

use std::io;

use thiserror::Error;

use crate::refusal::BrokerRefusal;

/// Why a load could not be started. Every message says what to do next.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// Nobody answers there, or not with AMQP.
    #[error("cannot reach a broker at {address}: {reason}; is it running, and is the port right?")]
    Unreachable {
        /// Host and port.
        address: String,
        /// What happened.
        reason: String,
    },
    /// What answers there does not prove to be the broker of the URI.
    #[error(
        "the broker at {address} shows a certificate that is not accepted: {reason}; name the authority that signed it: `ca` of \
         `[broker.tls]`, for a bus the environment variable SSL_CERT_FILE"
    )]
    NotTrusted {
        /// Host and port.
        address: String,
        /// What is wrong with the certificate.
        reason: String,
    },
    /// The port speaks TLS, and plain AMQP was sent to it.
    #[error(
        "what answers at {address} speaks TLS, and the URI asks for plain AMQP: start the URI with `amqps://`, or name \
         the port for plain AMQP (5672 as a rule)"
    )]
    SpeaksTls {
        /// Host and port.
        address: String,
    },
    /// The port does not speak TLS, and the URI asks for it.
    #[error(
        "what answers at {address} does not speak TLS, and the URI asks for it: name the broker's port for AMQP with TLS \
         (5671 as a rule), or, where passwords may be read on the way, start the URI with `amqp://`"
    )]
    SpeaksNoTls {
        /// Host and port.
        address: String,
    },
    /// The port speaks another protocol than AMQP 0-9-1.
    #[error(
        "what answers at {address} does not speak AMQP 0-9-1: {reason}; name the broker's port for AMQP (5672 as a rule, \
         with TLS 5671), not that of the management interface, of streams or of another node"
    )]
    SpeaksNoAmqp {
        /// Host and port.
        address: String,
        /// What happened.
        reason: String,
    },
    /// User or password refused.
    #[error("the broker at {address} refuses user `{user}`: {refusal}")]
    AuthenticationRefused {
        /// Host and port.
        address: String,
        /// User name.
        user: String,
        /// The broker's answer.
        refusal: BrokerRefusal,
    },
    /// No such virtual host, or no permission to use it.
    #[error("the broker at {address} refuses virtual host `{vhost}`: {refusal}")]
    VhostRefused {
        /// Host and port.
        address: String,
        /// Virtual host.
        vhost: String,
        /// The broker's answer.
        refusal: BrokerRefusal,
    },
    /// A queue that the scenario uses without declaring it is not there.
    #[error("queue `{queue}` does not exist on the broker: declare it with `[[queues]]`")]
    QueueMissing {
        /// Its name.
        queue: String,
    },
    /// An exchange that the scenario uses is not there.
    #[error("exchange `{exchange}` does not exist on the broker: declare it with `[[exchanges]]`")]
    ExchangeMissing {
        /// Its name.
        exchange: String,
    },
    /// The broker does not declare the queue as the scenario says.
    #[error("the broker refuses queue `{queue}`: {refusal}")]
    QueueRefused {
        /// Its name.
        queue: String,
        /// The broker's answer.
        refusal: BrokerRefusal,
    },
    /// The broker does not declare or bind the exchange as the scenario says.
    #[error("the broker refuses exchange `{exchange}`: {refusal}")]
    ExchangeRefused {
        /// Its name.
        exchange: String,
        /// The broker's answer.
        refusal: BrokerRefusal,
    },
    /// The names of what would be declared could not be written down.
    #[error("nothing was declared on the broker: {source}")]
    NotRemembered {
        /// What happened.
        source: io::Error,
    },
    /// The log of a run is not one of this scenario.
    #[error(
        "the log of the run says that it declared {what}, which this scenario does not: it is damaged, or somebody else \
         wrote it. Leave --resume out, and it is thrown away"
    )]
    ForeignClaim {
        /// In words: "queue `q`".
        what: String,
    },
    /// The system gives no random numbers.
    #[error("cannot read /dev/urandom: {source}")]
    NoToken {
        /// What happened.
        source: io::Error,
    },
    /// A file that the scenario sends cannot be read.
    #[error("cannot read {path}, which the scenario sends: {source}")]
    BodyFile {
        /// As written in the scenario.
        path: String,
        /// What happened.
        source: io::Error,
    },
    /// A file that a scenario of another user sends, without consent.
    #[error("the scenario sends {path}, and files of this machine are sent only with consent")]
    NoFiles {
        /// As written in the scenario.
        path: String,
    },
    /// Any other refusal by the broker.
    #[error("the broker at {address} refused {doing}: {refusal}")]
    Refused {
        /// Host and port.
        address: String,
        /// What we were doing.
        doing: String,
        /// The broker's answer.
        refusal: BrokerRefusal,
    },
    /// The connection broke while the load was being set up.
    #[error("the connection to the broker at {address} broke while {doing}: {reason}")]
    Broken {
        /// Host and port.
        address: String,
        /// What we were doing.
        doing: String,
        /// What happened.
        reason: String,
    },
    /// EXTERNAL without a certificate to show.
    #[error("`auth = \"external\"` logs in by a certificate: every URI must start with `amqps://`")]
    ExternalWithoutTls,
    /// A file that the scenario names cannot be used.
    #[error("cannot use {path}: {source}")]
    File {
        /// As the scenario names it.
        path: String,
        /// What happened.
        source: io::Error,
    },
    /// Certificates or keys that TLS cannot use.
    #[error("cannot {doing}: {reason}")]
    Tls {
        /// What we were doing.
        doing: String,
        /// What is wrong.
        reason: String,
    },
    /// More connections than this process may have descriptors.
    #[error(
        "{needed} connections need as many open files, and this process may have {limit}: raise \
         the limit (`ulimit -Hn`) or spread channels over fewer connections"
    )]
    TooManyConnections {
        /// Connections that the scenario asks for.
        needed: usize,
        /// `RLIMIT_NOFILE`.
        limit: u64,
    },
    /// Told to stop before the load began.
    #[error("stopped while connections were made")]
    Stopped,
    /// This machine refused something: descriptors, threads.
    #[error("cannot {doing}: {source}")]
    System {
        /// What we were doing.
        doing: &'static str,
        /// What happened.
        source: io::Error,
    },
}

impl LoadError {
    /// No broker was reached at all: the program's exit code 5.
    pub fn is_unreachable(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::NotTrusted { .. }
                | Self::SpeaksTls { .. }
                | Self::SpeaksNoTls { .. }
                | Self::SpeaksNoAmqp { .. }
        )
    }

    /// A broker that is starting may answer later: the next attempt can end otherwise.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::SpeaksNoAmqp { .. })
    }

    /// The broker does not let the user in, or not do this: the program's exit code 6.
    pub fn is_permission(&self) -> bool {
        match self {
            Self::AuthenticationRefused { refusal, .. }
            | Self::VhostRefused { refusal, .. }
            | Self::QueueRefused { refusal, .. }
            | Self::ExchangeRefused { refusal, .. }
            | Self::Refused { refusal, .. } => refusal.is_permission(),
            _ => false,
        }
    }

    /// What the scenario says cannot be done as it stands: the program's exit code 2.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::ExternalWithoutTls | Self::File { .. } | Self::Tls { .. })
    }
}
