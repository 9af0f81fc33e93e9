//! TCP sockets as the kernel shows them to every user: the user and the process that listen, and the socket at the
//! other end of a connection. The callers judge whether a peer is the expected one.

pub mod diagnosis;
mod holder;
mod holdings;
mod listening;
mod local;
mod table;
mod traced;

pub use holder::holder_of;
pub use holdings::{connected_with, holds_any, listeners_of};
pub use listening::{listeners, listeners_beside};
pub use local::is_local_address;
pub use table::{TcpSocket, connections_beside};
pub use traced::traced_sockets;
