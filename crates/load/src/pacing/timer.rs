//! A timer with a finer resolution than the millisecond of `epoll_wait`.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd},
};

use mio::{Interest, Registry, Token, unix::SourceFd};
use rabbitscope_timing::{Nanos, RunInstant};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// A timer that wakes a poll.
pub(crate) struct Timer {
    fd: OwnedFd,
    /// End of the current wait; none after it.
    due: Option<RunInstant>,
}

impl Timer {
    pub(crate) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        registry.register(&mut SourceFd(&fd.as_raw_fd()), token, Interest::READABLE)?;
        Ok(Self { fd, due: None })
    }

    /// Wakes the poll at `due`. The registration is edge-triggered, so nothing has to be read. A wait that a socket
    /// interrupted goes on without a call of the kernel.
    pub(crate) fn arm(&mut self, due: RunInstant, now: RunInstant) -> io::Result<()> {
        if self.due == Some(due) {
            return Ok(());
        }
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let delay = due.since(now).max(Nanos::new(1));
        let (seconds, rest) = (delay / Nanos::SECOND, delay % Nanos::SECOND);
        let value = Timespec { tv_sec: whole(seconds), tv_nsec: whole(rest.get()) };
        let once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let setting = Itimerspec { it_interval: once, it_value: value };
        timerfd_settime(&self.fd, TimerfdTimerFlags::empty(), &setting)?;
        self.due = Some(due);
        Ok(())
    }

    /// Records that the timer woke the poll.
    pub(crate) const fn end(&mut self) {
        self.due = None;
    }
}
