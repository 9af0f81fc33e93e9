//! Questions to the kernel about TCP sockets (socket diagnosis, `sock_diag(7)`). Every user may ask them.
//!
//! A read of `/proc/net/tcp` walks all buckets of the kernel's table of connections, a quarter of a million of them on
//! a machine of 24 GiB. A question for listeners, or for one connection, leaves that table alone. A kernel without the
//! module `tcp_diag` and a sandbox without netlink refuse the questions.
//!
//! [`request`] and [`message`] are the formats, [`kernel`] is the exchange. The crate `netlink-packet-sock-diag` does
//! not pay: it has no filter on ports, and takes five times as long for each socket because it allocates each attribute.

mod error;
mod kernel;
mod message;
mod request;

pub use error::DiagnosisError;
pub use kernel::SocketDiagnosis;
pub use message::DescribedSocket;
pub use request::{DiagnosisRequest, IPV4, IPV6};
