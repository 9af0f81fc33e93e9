//! A timer with a finer resolution than the millisecond of `epoll_wait`.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd},
    time::Duration,
};

use mio::{Interest, Registry, Token, unix::SourceFd};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::clock::{SECOND, nanos};

/// Wakes a poll.
pub(crate) struct Timer {
    fd: OwnedFd,
}

impl Timer {
    pub(crate) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        registry.register(&mut SourceFd(&fd.as_raw_fd()), token, Interest::READABLE)?;
        Ok(Self { fd })
    }

    /// Wakes the poll after `delay`. The registration is edge-triggered, so that
    /// nothing need be read.
    pub(crate) fn arm(&self, delay: Duration) -> io::Result<()> {
        let whole = |nanos: u64| i64::try_from(nanos).unwrap_or(i64::MAX);
        let nanos = nanos(delay).max(1);
        let value = Timespec { tv_sec: whole(nanos / SECOND), tv_nsec: whole(nanos % SECOND) };
        let once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let setting = Itimerspec { it_interval: once, it_value: value };
        timerfd_settime(&self.fd, TimerfdTimerFlags::empty(), &setting)?;
        Ok(())
    }
}
