//! A capture: opens the socket inside of its network, attaches the filter, gives it a ring, and only then binds it.
//! It lends out blocks in order, one at a time.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{
        netdevice::{index_to_name, name_to_index},
        sockopt::socket_error,
    },
};

use super::{
    block::{BlockBytes, Packets},
    filter::port_filter,
    memory::RingMemory,
    options::{CaptureInterface, RingOptions},
    socket::{
        RingStatistics, add_statistics, attach_filter, bind, ignore_outgoing, make_ring, open,
    },
};
use crate::packets::{
    error::PacketError,
    namespace::{NetworkNamespace, within},
};

/// The loopback interface of every network.
const LOOPBACK: &str = "lo";

/// A running capture. It ends, and leaves nothing in the kernel, with the value or the process.
#[derive(Debug)]
pub struct PacketRing {
    // Unmapped before the socket is closed.
    memory: RingMemory,
    socket: OwnedFd,
    /// The next block.
    next: usize,
    interface: CaptureInterface,
    counts: RingStatistics,
}

impl PacketRing {
    /// Starts a capture by `options` in `namespace`, or in this process's network. Fails without `CAP_NET_RAW`
    /// ([`PacketError::NoRightToCapture`]).
    pub fn open(
        options: &RingOptions,
        namespace: Option<&NetworkNamespace>,
    ) -> Result<Self, PacketError> {
        options.check()?;
        within(namespace, || Self::open_here(options))
    }

    fn open_here(options: &RingOptions) -> Result<Self, PacketError> {
        let socket = open()?;
        let interface = interface_number(&socket, &options.interface)?;
        let mut program = port_filter(&options.ports, options.snap_bytes);
        attach_filter(&socket, &mut program)
            .map_err(PacketError::io("attaching a filter to the socket"))?;
        make_ring(&socket, options).map_err(PacketError::io(format!(
            "making a ring of {} MiB for packets",
            options.ring_bytes() >> 20
        )))?;
        let memory = RingMemory::map(socket.as_fd(), options.block_bytes, options.blocks)
            .map_err(PacketError::io("mapping the ring for packets"))?;
        if options.interface.name() == LOOPBACK {
            ignore_outgoing(&socket).map_err(PacketError::io("ignoring outgoing packets of lo"))?;
        }
        bind(&socket, interface).map_err(|error| down_or(error, &options.interface))?;
        let interface = options.interface.clone();
        Ok(Self { memory, socket, next: 0, interface, counts: RingStatistics::default() })
    }

    /// Waits at most `timeout` for the next block. `None` if there is none, or after a signal.
    pub fn next_block(&mut self, timeout: Duration) -> Result<Option<Block<'_>>, PacketError> {
        if !self.memory.is_ours(self.next) {
            self.wait(timeout)?;
        }
        if !self.memory.is_ours(self.next) {
            return Ok(None);
        }
        Ok(Some(Block { ring: self }))
    }

    fn wait(&self, timeout: Duration) -> Result<(), PacketError> {
        let timeout = Timespec::try_from(timeout)
            .map_err(|_| PacketError::io("waiting for packets")(io::ErrorKind::InvalidInput))?;
        let mut events = [PollFd::new(&self.socket, PollFlags::IN | PollFlags::ERR)];
        match poll(&mut events, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(PacketError::io("waiting for packets")(errno)),
        }
        if events[0].revents().contains(PollFlags::ERR)
            && let Ok(Err(errno)) = socket_error(&self.socket)
        {
            return Err(down_or(errno.into(), &self.interface));
        }
        Ok(())
    }

    /// Counts since the capture began.
    pub fn statistics(&mut self) -> Result<RingStatistics, PacketError> {
        add_statistics(&self.socket, &mut self.counts)
            .map_err(PacketError::io("reading the statistics of the ring"))?;
        Ok(self.counts)
    }

    /// Name of an interface of the captured network, by the number in a packet.
    pub fn interface_name(&self, number: u32) -> Option<String> {
        index_to_name(&self.socket, number).ok()
    }

    /// Number of blocks of the ring.
    pub fn blocks(&self) -> usize {
        self.memory.blocks()
    }
}

fn interface_number(socket: &OwnedFd, interface: &CaptureInterface) -> Result<u32, PacketError> {
    match interface {
        CaptureInterface::Any => Ok(0),
        CaptureInterface::Named(name) => {
            name_to_index(socket, name).map_err(|_| PacketError::NoInterface { name: name.clone() })
        }
    }
}

fn down_or(error: io::Error, interface: &CaptureInterface) -> PacketError {
    let name = interface.name().to_owned();
    match error.raw_os_error() {
        Some(libc::ENETDOWN) => PacketError::InterfaceDown { name },
        Some(libc::ENODEV | libc::ENXIO) => PacketError::NoInterface { name },
        _ => PacketError::Io { action: format!("capturing on {name}"), source: error },
    }
}

/// A block of packets, lent by the ring. Dropping the value returns it to the kernel.
#[derive(Debug)]
pub struct Block<'ring> {
    ring: &'ring mut PacketRing,
}

impl Block<'_> {
    fn bytes(&self) -> BlockBytes<'_> {
        self.ring.memory.bytes(self.ring.next).expect("it is ours until it is returned")
    }

    /// Its packets, in the order of their arrival in the kernel.
    pub fn packets(&self) -> Packets<'_> {
        self.bytes().packets()
    }

    /// Number of packets in the block, by the kernel. If it exceeds the number of [`Self::packets`], one side has a
    /// defect, and packets are lost.
    pub fn packet_count(&self) -> u32 {
        self.bytes().packet_count()
    }
}

impl Drop for Block<'_> {
    fn drop(&mut self) {
        let ring = &mut *self.ring;
        ring.memory.give_back(ring.next);
        ring.next = (ring.next + 1) % ring.memory.blocks();
    }
}
