//! Live tests of the sources for packets, sockets and writes: on loopback, on free ports.

mod capturing;
mod conversation;
mod networks;
mod sockets;
mod users;
mod writes;
