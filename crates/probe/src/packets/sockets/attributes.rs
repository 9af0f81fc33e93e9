//! A socket from the kernel's description of it, with the attributes of `<linux/inet_diag.h>`.

use std::net::SocketAddr;

use rabbitscope_machine::sockets::diagnosis::DescribedSocket;

use super::{
    socket::{SocketMemory, TcpSocket, TcpState},
    tcp_info::TcpInfo,
};

/// The attributes that are read, by `INET_DIAG_…`.
pub(super) const ATTRIBUTES: [u16; 3] = [INFO, CONGESTION, MEMORY];

const INFO: u16 = 2;
const CONGESTION: u16 = 4;
const MEMORY: u16 = 7;

impl TcpSocket {
    /// Reads a description. `None` if the state is not one of a connection.
    pub(super) fn from_described(described: DescribedSocket<'_>) -> Option<Self> {
        let mut socket = Self {
            cookie: described.cookie,
            local: canonical(described.local),
            remote: canonical(described.remote),
            state: TcpState::from_number(described.state)?,
            inode: described.inode.into(),
            user: described.user,
            receive_queue: described.receive_queue,
            send_queue: described.send_queue,
            congestion_control: None,
            memory: None,
            info: TcpInfo::default(),
        };
        described.for_each_attribute(|kind, value| match kind {
            INFO => socket.info = TcpInfo::read(value),
            CONGESTION => socket.congestion_control = name(value),
            MEMORY => socket.memory = memory(value),
            _ => {}
        });
        Some(socket)
    }
}

fn canonical(end: SocketAddr) -> SocketAddr {
    SocketAddr::new(end.ip().to_canonical(), end.port())
}

fn name(value: &[u8]) -> Option<String> {
    let text = value.split(|&byte| byte == 0).next()?;
    (!text.is_empty()).then(|| String::from_utf8_lossy(text).into_owned())
}

/// Parses words of `SK_MEMINFO_…`, in the order of `<linux/sock_diag.h>`. The last is missing before Linux 4.10.
fn memory(value: &[u8]) -> Option<SocketMemory> {
    let (words, _) = value.as_chunks::<4>();
    let word = |index: usize| words.get(index).map(|&bytes| u32::from_ne_bytes(bytes));
    Some(SocketMemory {
        receive_used: word(0)?,
        receive_limit: word(1)?,
        send_limit: word(3)?,
        send_used: word(5)?,
        backlog: word(7)?,
        drops: word(8).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_congestion_control() {
        let check = |value: &[u8], expected: Option<&str>| {
            assert_eq!(name(value).as_deref(), expected, "{value:?}");
        };
        check(b"bbr\0", Some("bbr"));
        check(b"cubic", Some("cubic"));
        check(b"\0bbr", None);
        check(b"", None);
    }

    #[test]
    fn memory_of_a_socket() {
        let words: Vec<u8> = (0..9_u32).flat_map(u32::to_ne_bytes).collect();
        let found = memory(&words).unwrap();
        assert_eq!((found.receive_used, found.send_used, found.drops), (0, 5, 8));
        assert_eq!(memory(&words[..32]).unwrap().drops, 0);
        assert_eq!(memory(&words[..31]), None);
    }
}
