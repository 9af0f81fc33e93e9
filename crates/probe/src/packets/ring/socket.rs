//! The socket of a capture and its options (`packet(7)`, `Documentation/networking/packet_mmap.rst`). It sends
//! nothing, and receives nothing before [`bind`], which comes after the filter.

#![expect(unsafe_code, reason = "socket options without safe functions")]

use std::{
    ffi::{c_int, c_void},
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
};

use libc::{sock_filter, sock_fprog, sockaddr_ll, tpacket_req3, tpacket_stats_v3};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use super::options::RingOptions;
use crate::{
    packets::error::PacketError,
    permission::{PACKETS, raise},
};

/// Nominal size of a frame, for the kernel's check only: a block of version 3 has packets of any size.
const NOMINAL_FRAME_BYTES: u32 = 2048;

/// Numbers in the widths of the structures. The kernel shows outgoing packets only to sockets for all protocols.
const TPACKET_V3: c_int = 2;
const AF_PACKET: u16 = 17;
const ETH_P_ALL: u16 = 3;

/// Counts of a ring since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingStatistics {
    /// Packets that passed the filter, dropped ones included.
    pub packets: u64,
    /// Packets dropped for lack of room.
    pub drops: u64,
    /// Number of times that the ring was full, so that the kernel waited for a block.
    pub freezes: u64,
}

/// Opens a socket for packets without link headers, which receives nothing yet. Raises `CAP_NET_RAW` for this one
/// call.
pub(super) fn open() -> Result<OwnedFd, PacketError> {
    let opened = {
        let _raised = raise(PACKETS);
        // No protocol yet: `bind` sets it after the filter is attached.
        socket_with(AddressFamily::PACKET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
    };
    opened.map_err(|errno| match io::Error::from(errno) {
        error if error.kind() == io::ErrorKind::PermissionDenied => PacketError::NoRightToCapture,
        error => PacketError::Io { action: "opening a socket for packets".into(), source: error },
    })
}

/// Checks the right to capture without capturing anything.
pub(in crate::packets) fn may_capture() -> Result<(), PacketError> {
    open().map(drop)
}

/// Restricts the socket to packets that the program keeps. The filter cannot be removed again.
pub(super) fn attach_filter(socket: &OwnedFd, program: &mut [sock_filter]) -> io::Result<()> {
    let len = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let filter = sock_fprog { len, filter: program.as_mut_ptr() };
    set(socket.as_fd(), libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter)?;
    set(socket.as_fd(), libc::SOL_SOCKET, libc::SO_LOCK_FILTER, &1_i32)
}

/// Gives the socket its ring.
pub(super) fn make_ring(socket: &OwnedFd, options: &RingOptions) -> io::Result<()> {
    set(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_VERSION, &TPACKET_V3)?;
    let timeout = options.block_timeout.as_millis().clamp(1, 10_000);
    let request = tpacket_req3 {
        tp_block_size: options.block_bytes,
        tp_block_nr: options.blocks,
        tp_frame_size: NOMINAL_FRAME_BYTES,
        tp_frame_nr: options.block_bytes / NOMINAL_FRAME_BYTES * options.blocks,
        tp_retire_blk_tov: u32::try_from(timeout).expect("it is clamped"),
        tp_sizeof_priv: 0,
        tp_feature_req_word: 0,
    };
    set(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_RX_RING, &request)
}

/// Makes the kernel skip outgoing packets. For `lo`, where each packet comes in as well.
pub(super) fn ignore_outgoing(socket: &OwnedFd) -> io::Result<()> {
    set(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1_i32)
}

/// Begins to receive on an interface; 0 means all.
pub(super) fn bind(socket: &OwnedFd, interface: u32) -> io::Result<()> {
    let address = sockaddr_ll {
        sll_family: AF_PACKET,
        sll_protocol: ETH_P_ALL.to_be(),
        sll_ifindex: interface.cast_signed(),
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let length = socklen(size_of::<sockaddr_ll>());
    // SAFETY: the address is alive during the call and has `length` bytes.
    let done = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Adds the counts since the last call. The kernel resets them at each read.
pub(super) fn add_statistics(socket: &OwnedFd, counts: &mut RingStatistics) -> io::Result<()> {
    let mut since = tpacket_stats_v3 { tp_packets: 0, tp_drops: 0, tp_freeze_q_cnt: 0 };
    let mut length = socklen(size_of::<tpacket_stats_v3>());
    let (level, name) = (libc::SOL_PACKET, libc::PACKET_STATISTICS);
    // SAFETY: the kernel writes at most `length` bytes to `since`, which is alive during the call and has only
    // numbers, for which all bytes are valid.
    let done = unsafe {
        let to = (&raw mut since).cast::<c_void>();
        libc::getsockopt(socket.as_raw_fd(), level, name, to, &raw mut length)
    };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    counts.packets += u64::from(since.tp_packets);
    counts.drops += u64::from(since.tp_drops);
    counts.freezes += u64::from(since.tp_freeze_q_cnt);
    Ok(())
}

/// Sets an option to a value of the type that the kernel expects.
fn set<T>(socket: BorrowedFd<'_>, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    let length = socklen(size_of::<T>());
    let from = (&raw const *value).cast::<c_void>();
    // SAFETY: the kernel reads at most `length` bytes of `value`, and of a filter the instructions that its pointer
    // and length describe. The caller keeps both alive.
    let done = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, from, length) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn socklen(bytes: usize) -> libc::socklen_t {
    libc::socklen_t::try_from(bytes).expect("structures are small")
}
