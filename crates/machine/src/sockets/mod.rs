//! TCP sockets as the kernel's tables show them to every user: which user and which process listens, and which socket
//! is at the other end of a connection. The verdict whether a peer is the expected one lives in the callers.

mod holder;
mod holdings;
mod local;
mod table;

pub use holder::{SocketHolder, holder_of};
pub use holdings::{holds_any, listeners_of};
pub use local::is_local_address;
pub use table::{Listener, listeners, listeners_in};
