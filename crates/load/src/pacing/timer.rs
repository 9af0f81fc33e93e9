//! A timer with a finer resolution than the millisecond of `epoll_wait`.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd},
};

use mio::{Interest, Registry, Token, unix::SourceFd};
use rabbitscope_timing::Nanos;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// A timer that wakes a poll.
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

    /// Wakes the poll after `delay`. The registration is edge-triggered, so nothing has to be read.
    pub(crate) fn arm(&self, delay: Nanos) -> io::Result<()> {
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let delay = delay.max(Nanos::new(1));
        let (seconds, rest) = (delay / Nanos::SECOND, delay % Nanos::SECOND);
        let value = Timespec { tv_sec: whole(seconds), tv_nsec: whole(rest.get()) };
        let once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let setting = Itimerspec { it_interval: once, it_value: value };
        timerfd_settime(&self.fd, TimerfdTimerFlags::empty(), &setting)?;
        Ok(())
    }
}
