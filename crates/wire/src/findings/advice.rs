//! Sentences of findings and their remedies. Advice depends on the sender: a remedy for a consumer does not help a
//! publisher.

/// A sentence and its remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Advice {
    pub(super) sentence: &'static str,
    pub(super) fix: &'static str,
}

/// The remedy if the broker takes less than a publisher sends.
const BROKER_IS_FULL: &str = "find the broker's bottleneck: an alarm of memory or disk, or flow control by a queue, a \
                              quorum queue's log or the disk; publish at the broker's rate, with a limit of \
                              unconfirmed messages, or to more queues";

pub(super) const CAPTURE_LOSS: Advice = Advice {
    sentence: "the capture lost packets, so gaps in streams say nothing about the network",
    fix: "capture fewer ports, give the ring more memory, or cut packets shorter; figures of sockets are not affected",
};

pub(super) const CLIENT_WITHOUT_ROOM: Advice = Advice {
    sentence: "a client had no room and the broker had to stop",
    fix: "make the consumer faster, or give it fewer messages at a time (prefetch); the broker aborts a write after \
          30 seconds and closes the connection",
};

pub(super) const BROKER_WITHOUT_ROOM: Advice =
    Advice { sentence: "the broker stopped reading from a publisher", fix: BROKER_IS_FULL };

pub(super) const BLOCKED_WITHOUT_ROOM: Advice = Advice {
    sentence: "the broker stopped reading from a blocked publisher",
    fix: "end the alarm that connection.blocked names: consume what is queued, or raise vm_memory_high_watermark or free disk \
          space",
};

pub(super) const DELAYED_ACKNOWLEDGEMENT: Advice = Advice {
    sentence: "small segments wait for delayed acknowledgements (Nagle's algorithm)",
    fix: "set TCP_NODELAY on the sender's socket, or write each message with one call",
};

pub(super) const CLIENT_LIMITS: Advice = Advice {
    sentence: "the client's window keeps the broker from sending",
    fix: "the client reads too slowly, or its receive buffer is small: check its CPU, then its buffer; a smaller \
          prefetch keeps messages in the queue",
};

pub(super) const BROKER_LIMITS: Advice = Advice {
    sentence: "the publisher sends more than the broker reads: its window is full",
    fix: BROKER_IS_FULL,
};

pub(super) const BROKER_BUFFER: Advice = Advice {
    sentence: "the broker's own send buffer keeps it from sending",
    fix: "make the send buffer larger: tcp_listen_options.sndbuf",
};

pub(super) const CLIENT_BUFFER: Advice = Advice {
    sentence: "the client's own send buffer keeps it from sending",
    fix: "make the send buffer larger: SO_SNDBUF of the client's socket",
};

pub(super) const NETWORK: Advice = Advice {
    sentence: "segments are lost on the way and sent again",
    fix: "check the path: loss, queues, the congestion window",
};

pub(super) const FRAME_BY_FRAME: Advice = Advice {
    sentence: "the client sends method, header and body of a message in separate segments",
    fix: "write the whole publish at once and flush once: about twice the throughput",
};

pub(super) const ACK_PER_MESSAGE: Advice = Advice {
    sentence: "the client acknowledges every message separately, in its own segment",
    fix: "acknowledge several at once (multiple), such as every tenth of the prefetch",
};

pub(super) const SMALL_FROM_CLIENT: Advice = Advice {
    sentence: "many small segments from the client",
    fix: "batch: write several messages at once, and acknowledge several at once",
};

pub(super) const SMALL_FROM_BROKER: Advice = Advice {
    sentence: "many small segments from the broker",
    fix: "its writer flushes at 1,414 bytes or when it has no more data, so its segments follow the load; it confirms \
          several publishes of one write together",
};

pub(super) const ONE_UNCONFIRMED: Advice = Advice {
    sentence: "neither network nor broker is the bottleneck: the publisher waits for each confirm before it publishes \
               again",
    fix: "allow more unconfirmed messages, or publish on more channels",
};

pub(super) const SMALL_PREFETCH: Advice = Advice {
    sentence: "neither network nor client is the bottleneck: the prefetch allows too few messages in flight",
    fix: "a larger prefetch, or more consumers",
};

pub(super) const POLLING: Advice = Advice {
    sentence: "the client asks for single messages, mostly of an empty queue",
    fix: "consume (basic.consume) instead of polling with basic.get",
};
