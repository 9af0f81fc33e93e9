//! The answers to a request for sockets: netlink messages (`netlink(7)`) with a `struct inet_diag_msg` and
//! attributes. Pure, with all lengths checked.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::request::{BY_FAMILY, IPV4, IPV6};

/// Header of a netlink message, and of an attribute.
const MESSAGE_HEADER: usize = 16;
const ATTRIBUTE_HEADER: usize = 4;

/// `struct inet_diag_msg`.
const SOCKET_BYTES: usize = 72;

/// Kinds of messages besides `SOCK_DIAG_BY_FAMILY`: `NLMSG_ERROR`, `NLMSG_DONE`.
const ERROR: u16 = 2;
const DONE: u16 = 3;

/// A TCP socket as the kernel describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescribedSocket<'a> {
    /// State, by its number in `<net/tcp_states.h>`.
    pub state: u8,
    /// Address of this end.
    pub local: SocketAddr,
    /// Address of the other end; of a listener, zeros.
    pub remote: SocketAddr,
    /// Number that is unique until the machine restarts.
    pub cookie: u64,
    /// Bytes received and not read.
    pub receive_queue: u32,
    /// Bytes written and not acknowledged.
    pub send_queue: u32,
    /// Id of its user.
    pub user: u32,
    /// Inode, by which descriptors of processes name the socket; 0 if no process holds it.
    pub inode: u32,
    attributes: &'a [u8],
}

/// One message of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    Socket(DescribedSocket<'a>),
    /// The error number of the kernel.
    Refused(i32),
    Done,
    /// A message of another kind or address family.
    Unknown,
}

/// Reads in order all messages of a datagram that answer the request with the number `sequence`. Fails at one that is
/// longer than the rest.
pub(super) fn read_all<'a>(
    mut datagram: &'a [u8],
    sequence: u32,
    mut each: impl FnMut(Answer<'a>),
) -> Result<(), &'static str> {
    while let Some(header) = datagram.first_chunk::<MESSAGE_HEADER>() {
        let [l0, l1, l2, l3, k0, k1, _, _, s0, s1, s2, s3, ..] = *header;
        let length = u32::from_ne_bytes([l0, l1, l2, l3]) as usize;
        let body =
            datagram.get(MESSAGE_HEADER..length).ok_or("a message is longer than what came")?;
        if u32::from_ne_bytes([s0, s1, s2, s3]) == sequence {
            each(read(u16::from_ne_bytes([k0, k1]), body)?);
        }
        datagram = datagram.get(aligned(length)..).unwrap_or_default();
    }
    Ok(())
}

fn read(kind: u16, body: &[u8]) -> Result<Answer<'_>, &'static str> {
    match kind {
        DONE => Ok(Answer::Done),
        ERROR => {
            let number = body.first_chunk().ok_or("an error without a number")?;
            Ok(Answer::Refused(i32::from_ne_bytes(*number).saturating_neg()))
        }
        BY_FAMILY => {
            let fixed = body.first_chunk().ok_or("a description of a socket is cut off")?;
            let socket = socket(fixed, &body[SOCKET_BYTES..]);
            Ok(socket.map_or(Answer::Unknown, Answer::Socket))
        }
        _ => Ok(Answer::Unknown),
    }
}

/// Parses `struct inet_diag_msg`, which begins with family and state; from byte 4 on follows `struct
/// inet_diag_sockid`.
fn socket<'a>(fixed: &[u8; SOCKET_BYTES], attributes: &'a [u8]) -> Option<DescribedSocket<'a>> {
    let family = fixed[0];
    let word =
        |start: usize| u32::from_ne_bytes(fixed[start..start + 4].try_into().expect("four bytes"));
    let port = |start: usize| u16::from_be_bytes([fixed[start], fixed[start + 1]]);
    let end = |address: usize, port_start: usize| {
        let bytes = fixed[address..address + 16].try_into().expect("sixteen bytes");
        Some(SocketAddr::new(ip_address(family, bytes)?, port(port_start)))
    };
    Some(DescribedSocket {
        state: fixed[1],
        local: end(8, 4)?,
        remote: end(24, 6)?,
        cookie: u64::from(word(48)) << 32 | u64::from(word(44)),
        receive_queue: word(56),
        send_queue: word(60),
        user: word(64),
        inode: word(68),
        attributes,
    })
}

fn ip_address(family: u8, bytes: [u8; 16]) -> Option<IpAddr> {
    let [a, b, c, d, ..] = bytes;
    match family {
        IPV4 => Some(Ipv4Addr::new(a, b, c, d).into()),
        IPV6 => Some(Ipv6Addr::from(bytes).into()),
        _ => None,
    }
}

impl<'a> DescribedSocket<'a> {
    /// Calls `each` with kind (`INET_DIAG_…`) and value of the attributes up to the first incomplete one.
    pub fn for_each_attribute(&self, mut each: impl FnMut(u16, &'a [u8])) {
        let mut rest = self.attributes;
        while let Some(&[l0, l1, k0, k1]) = rest.first_chunk::<ATTRIBUTE_HEADER>() {
            let length = usize::from(u16::from_ne_bytes([l0, l1]));
            let Some(value) = rest.get(ATTRIBUTE_HEADER..length) else { return };
            each(u16::from_ne_bytes([k0, k1]), value);
            rest = rest.get(aligned(length)..).unwrap_or_default();
        }
    }
}

/// Rounds up to four bytes, the alignment of messages and attributes.
const fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEQUENCE: u32 = 7;

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(MESSAGE_HEADER + body.len()).unwrap();
        let mut message = length.to_ne_bytes().to_vec();
        message.extend(kind.to_ne_bytes());
        message.extend([0; 2]);
        message.extend(SEQUENCE.to_ne_bytes());
        message.extend([0; 4]);
        message.extend(body);
        message
    }

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let length = u16::try_from(ATTRIBUTE_HEADER + value.len()).unwrap();
        let mut attribute = length.to_ne_bytes().to_vec();
        attribute.extend(kind.to_ne_bytes());
        attribute.extend(value);
        attribute.resize(aligned(attribute.len()), 0);
        attribute
    }

    /// A connection from 127.0.0.1:5672 to 127.0.0.1:40000 on a socket for IPv6.
    fn described() -> Vec<u8> {
        let mut body = vec![0; SOCKET_BYTES];
        body[0] = IPV6;
        body[1] = 1;
        body[4..6].copy_from_slice(&5672_u16.to_be_bytes());
        body[6..8].copy_from_slice(&40000_u16.to_be_bytes());
        for at in [8, 24] {
            body[at..at + 16].copy_from_slice(&Ipv4Addr::LOCALHOST.to_ipv6_mapped().octets());
        }
        body[44..48].copy_from_slice(&7_u32.to_ne_bytes());
        body[48..52].copy_from_slice(&1_u32.to_ne_bytes());
        body[56..60].copy_from_slice(&11_u32.to_ne_bytes());
        body[68..72].copy_from_slice(&4711_u32.to_ne_bytes());
        body.extend(attribute(4, b"bbr\0"));
        body.extend(attribute(99, b"later"));
        body
    }

    fn answers(datagram: &[u8]) -> Result<Vec<Answer<'_>>, &'static str> {
        let mut all = Vec::new();
        read_all(datagram, SEQUENCE, |answer| all.push(answer)).map(|()| all)
    }

    #[test]
    fn a_socket() {
        let datagram = [message(BY_FAMILY, &described()), message(DONE, &[0; 4])].concat();
        let all = answers(&datagram).unwrap();
        let [Answer::Socket(socket), Answer::Done] = &all[..] else { panic!("{all:?}") };
        assert_eq!(socket.local, "[::ffff:127.0.0.1]:5672".parse().unwrap());
        assert_eq!(socket.remote, "[::ffff:127.0.0.1]:40000".parse().unwrap());
        assert_eq!((socket.cookie, socket.inode, socket.receive_queue), (1 << 32 | 7, 4711, 11));
        let mut attributes = Vec::new();
        socket.for_each_attribute(|kind, value| attributes.push((kind, value)));
        assert_eq!(attributes, [(4, &b"bbr\0"[..]), (99, b"later")]);
    }

    #[test]
    fn an_answer_to_an_earlier_request() {
        let mut earlier = message(BY_FAMILY, &described());
        earlier[8..12].copy_from_slice(&(SEQUENCE - 1).to_ne_bytes());
        let datagram = [earlier, message(DONE, &[0; 4])].concat();
        assert_eq!(answers(&datagram), Ok(vec![Answer::Done]));
    }

    #[test]
    fn refusals_and_defects() {
        assert_eq!(
            answers(&message(ERROR, &(-13_i32).to_ne_bytes())),
            Ok(vec![Answer::Refused(13)])
        );
        assert_eq!(answers(&message(77, &[])), Ok(vec![Answer::Unknown]));
        assert_eq!(answers(&[]), Ok(vec![]));
        assert!(answers(&message(BY_FAMILY, &[0; 71])).is_err());
        assert!(answers(&message(DONE, &[0; 4])[..19]).is_err());
        let mut short = message(DONE, &[]);
        short[..4].copy_from_slice(&3_u32.to_ne_bytes());
        assert!(answers(&short).is_err());
    }

    #[test]
    fn no_length_leads_out_of_the_message() {
        let whole = message(BY_FAMILY, &described());
        for at in 0..whole.len() {
            for byte in [0, 1, 5, 0x7f, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = byte;
                for bytes in [&damaged[..], &damaged[..at]] {
                    for answer in answers(bytes).unwrap_or_default() {
                        let Answer::Socket(socket) = answer else { continue };
                        socket.for_each_attribute(|_, _| ());
                    }
                }
            }
        }
    }
}
