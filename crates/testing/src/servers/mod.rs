//! What tests listen with: forwarders, receivers of other projects, programs that serve.

mod forwarder;
mod receiver;
mod served;
mod server;

pub use forwarder::Forwarder;
pub use receiver::Receiver;
pub use served::Served;
pub use server::Server;
