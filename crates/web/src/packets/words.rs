//! The words of the page: the meanings of its terms, and the names of the report's kinds.

use rabbitscope_wire::report::{LatencyKind, Side};

use crate::document::{Block, Cell, Column, Content, Hue, Key, Table};

/// A word that needs an explanation.
pub(super) struct Term {
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
}

pub(super) const WINDOW: Term = Term {
    name: "window, room",
    meaning: "Number of further bytes that a receiver accepts. It announces the number with every segment.",
};
pub(super) const ZERO_WINDOW: Term = Term {
    name: "zero window",
    meaning: "A receiver announced that it has no room: its program does not read. The other side must wait.",
};
pub(super) const RECEIVER_LIMITED: Term = Term {
    name: "receiver-limited",
    meaning: "The sender had data and waited because the receiver's window was full: the reader is slow.",
};
pub(super) const SEND_BUFFER_LIMITED: Term = Term {
    name: "send-buffer-limited",
    meaning: "The sender had data and its own send buffer was too small to keep the path full.",
};
pub(super) const BUSY: Term = Term {
    name: "busy",
    meaning: "Data was on its way or waited to be sent. The rest of the time the program had nothing to send.",
};
pub(super) const IDLE: Term = Term {
    name: "idle",
    meaning: "Nothing was on its way: the program had nothing to send, so neither path nor receiver was the limit.",
};
pub(super) const RETRANSMITTED: Term = Term {
    name: "retransmitted",
    meaning: "Bytes that were sent again, because a segment or its acknowledgement was lost or late.",
};
pub(super) const OUT_OF_ORDER: Term = Term {
    name: "out of order",
    meaning: "New bytes that arrived before others that precede them.",
};
pub(super) const DELAYED_ACK: Term = Term {
    name: "delayed-acknowledgement stall",
    meaning: "A small segment waited until the receiver's acknowledgement timer ran out, usually 40 ms: Nagle's algorithm.",
};
pub(super) const ROUND_TRIP: Term = Term {
    name: "round trip",
    meaning: "From a segment to its acknowledgement. The smallest one is the path; larger ones hold delayed acknowledgements.",
};
pub(super) const IN_FLIGHT: Term =
    Term { name: "in flight", meaning: "Bytes that were sent but not acknowledged yet." };
pub(super) const SEGMENT: Term = Term {
    name: "segment",
    meaning: "The unit that TCP sends. Captured on the sending machine, it may be larger than a packet on the cable.",
};
pub(super) const PURE_ACK: Term =
    Term { name: "pure acknowledgement", meaning: "A segment without payload." };
pub(super) const MEDIAN_PAYLOAD: Term = Term {
    name: "median payload",
    meaning: "Half of the segments with payload have no more bytes than this.",
};
pub(super) const UNSENT: Term =
    Term { name: "unsent", meaning: "Most bytes that waited in this end's kernel to be sent." };
pub(super) const UNREAD: Term = Term {
    name: "unread",
    meaning: "Most bytes that waited in this end's kernel for its program to read them.",
};

/// All terms, for the list at the end of the page.
const TERMS: [&Term; 16] = [
    &BUSY,
    &DELAYED_ACK,
    &IDLE,
    &IN_FLIGHT,
    &MEDIAN_PAYLOAD,
    &OUT_OF_ORDER,
    &PURE_ACK,
    &RECEIVER_LIMITED,
    &RETRANSMITTED,
    &ROUND_TRIP,
    &SEGMENT,
    &SEND_BUFFER_LIMITED,
    &UNREAD,
    &UNSENT,
    &WINDOW,
    &ZERO_WINDOW,
];

impl Term {
    /// Returns an entry of a key to colours.
    pub(super) fn key(&self, hue: Hue) -> Key {
        Key { hue, name: self.name, meaning: self.meaning }
    }
}

/// Returns the list of all terms, for readers without a pointer to hold over a word.
pub(super) fn blocks() -> Vec<Block> {
    let rows = TERMS.map(|term| vec![Cell::text(term.name), Cell::text(term.meaning)]);
    let columns = vec![Column::text("word"), Column::text("meaning")];
    let table = Table { label: "Words", columns, rows: rows.into(), ..Table::default() };
    vec![Block::new("words-table", Content::Table(table))]
}

pub(super) fn side(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Broker => "broker",
    }
}

/// Returns the other end.
pub(super) fn opposite(from: Side) -> &'static str {
    match from {
        Side::Client => side(Side::Broker),
        Side::Broker => side(Side::Client),
    }
}

pub(crate) fn latency(kind: LatencyKind) -> &'static str {
    match kind {
        LatencyKind::PublishToConfirm => "publish → confirm",
        LatencyKind::PublishToConfirmAtLeast => "publish → confirm, at least",
        LatencyKind::DeliverToAck => "deliver → ack",
        LatencyKind::RequestToReply => "request → reply",
        LatencyKind::ServiceTime => "delivered request → reply",
        LatencyKind::Method => "method → answer",
    }
}

/// Names the owner of a latency, for a capture beside the broker.
pub(super) fn whose(kind: LatencyKind) -> &'static str {
    match kind {
        LatencyKind::PublishToConfirm => "the broker's: routing, queues, disk",
        LatencyKind::PublishToConfirmAtLeast => {
            "the broker's; the capture began in the middle, so the numbers of publishes are unknown"
        }
        LatencyKind::DeliverToAck => "the network's and the consumer's",
        LatencyKind::RequestToReply => "queues, network and the responder",
        LatencyKind::ServiceTime => "the responder's and its network's",
        LatencyKind::Method => "the answering side's",
    }
}
