//! A session with its only link.

use super::{receiver::ReceiverLink, renewal_state::Renewal, sender::SenderLink, window::Window};

/// The handle of each link: a session has one.
pub(super) const HANDLE: u32 = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// `begin` and `attach` are sent.
    Attaching,
    /// The broker's `attach` has no target or source: its `detach` with the reason follows.
    Refused,
    Attached,
    /// `detach` is sent.
    Detaching,
}

/// A session with its only link.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) stage: Stage,
    pub(super) window: Window,
    pub(super) link: Link,
    /// Address of its target or source.
    pub(super) address: String,
}

#[derive(Debug)]
pub(super) enum Link {
    Sender(SenderLink),
    Receiver(ReceiverLink),
    /// A pair of links, for new tokens.
    Renewal(Renewal),
}

impl Lane {
    pub(super) fn new(link: Link, address: &str) -> Self {
        let address = address.to_owned();
        Self { stage: Stage::Attaching, window: Window::default(), link, address }
    }

    #[inline]
    pub(super) fn sender(&self) -> Option<&SenderLink> {
        match &self.link {
            Link::Sender(link) => Some(link),
            Link::Receiver(_) | Link::Renewal(_) => None,
        }
    }

    #[inline]
    pub(super) fn receiver_mut(&mut self) -> Option<&mut ReceiverLink> {
        match &mut self.link {
            Link::Receiver(link) => Some(link),
            Link::Sender(_) | Link::Renewal(_) => None,
        }
    }
}
