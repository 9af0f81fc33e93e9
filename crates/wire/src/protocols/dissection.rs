//! The framer of a direction together with the grammar of its protocol.
//!
//! Only this file maps protocols to grammars.

use super::{
    amqp10, amqp091,
    frame::{Frame, IdentifierRun, Place, Protocol, Reply},
    framer::{Cursor, Framer, Known, Progress, Trust},
    mqtt, rabbitmq_stream,
    sink::FrameSink,
    tls,
};
use crate::{report::Side, stream::Gap};

#[derive(Clone, Debug)]
enum AnyGrammar {
    Amqp091(amqp091::Grammar),
    Amqp10(amqp10::Grammar),
    RabbitmqStream(rabbitmq_stream::Grammar),
    Mqtt(mqtt::Grammar),
    Tls(tls::Grammar),
}

/// Reads frames of one protocol from one direction.
#[derive(Clone, Debug)]
pub(super) struct Dissection {
    protocol: Protocol,
    sender: Side,
    framer: Framer,
    grammar: AnyGrammar,
}

/// Calls a function for the grammar of a dissection.
macro_rules! with_grammar {
    ($of:expr, $grammar:ident => $call:expr) => {
        match $of {
            AnyGrammar::Amqp091($grammar) => $call,
            AnyGrammar::Amqp10($grammar) => $call,
            AnyGrammar::RabbitmqStream($grammar) => $call,
            AnyGrammar::Mqtt($grammar) => $call,
            AnyGrammar::Tls($grammar) => $call,
        }
    };
}

impl Dissection {
    pub(super) fn new(protocol: Protocol, sender: Side, trust: Trust) -> Self {
        let (framer, grammar) = match protocol {
            Protocol::Amqp091 => (
                Framer::new::<amqp091::Grammar>(sender),
                AnyGrammar::Amqp091(amqp091::Grammar::new(trust)),
            ),
            Protocol::Amqp10 => (
                Framer::new::<amqp10::Grammar>(sender),
                AnyGrammar::Amqp10(amqp10::Grammar::new(trust)),
            ),
            Protocol::RabbitmqStream => (
                Framer::new::<rabbitmq_stream::Grammar>(sender),
                AnyGrammar::RabbitmqStream(rabbitmq_stream::Grammar::new(trust)),
            ),
            Protocol::Mqtt => {
                (Framer::new::<mqtt::Grammar>(sender), AnyGrammar::Mqtt(mqtt::Grammar::new(trust)))
            }
            Protocol::Tls => {
                (Framer::new::<tls::Grammar>(sender), AnyGrammar::Tls(tls::Grammar::new(trust)))
            }
        };
        Self { protocol, sender, framer, grammar }
    }

    pub(super) const fn protocol(&self) -> Protocol {
        self.protocol
    }

    pub(super) fn trust(&mut self) {
        with_grammar!(&mut self.grammar, grammar => grammar.trust = Trust::Full);
    }

    #[inline]
    pub(super) fn next(&mut self, cursor: &mut Cursor<'_>, sink: &mut impl FrameSink) -> Progress {
        with_grammar!(&mut self.grammar, grammar => self.framer.next(grammar, cursor, sink))
    }

    /// See [`Framer::bridges`].
    pub(super) fn bridges(&mut self, gap: &Gap) -> bool {
        self.framer.bridges(gap)
    }

    /// See [`Framer::frame_start`].
    pub(super) fn frame_start(&self) -> Option<u64> {
        self.framer.frame_start()
    }

    /// Returns the facts about the complete frame.
    #[inline]
    pub(super) fn known(&self) -> Known {
        with_grammar!(&self.grammar, grammar => grammar.known())
    }

    /// Returns the complete frame.
    #[inline]
    pub(super) fn frame(&self, place: Place) -> Frame<'_> {
        let Known { channel, kind, details, .. } = self.known();
        let (sender, protocol) = (self.sender, self.protocol);
        let (identifiers, reply, arguments) = (self.identifiers(), self.reply(), self.arguments());
        Frame { sender, protocol, channel, kind, place, details, identifiers, reply, arguments }
    }

    /// Keeps the arguments of frames to come, see [`Frame::arguments`].
    pub(super) const fn keep_arguments(&mut self) {
        match &mut self.grammar {
            AnyGrammar::Amqp091(grammar) => grammar.arguments.turn_on(),
            AnyGrammar::Amqp10(grammar) => grammar.arguments.turn_on(),
            AnyGrammar::RabbitmqStream(grammar) => grammar.arguments.turn_on(),
            AnyGrammar::Mqtt(grammar) => grammar.arguments.turn_on(),
            AnyGrammar::Tls(_) => {}
        }
    }

    /// Returns the level of MQTT, if it is known.
    pub(super) const fn level(&self) -> Option<u8> {
        match &self.grammar {
            AnyGrammar::Mqtt(grammar) => grammar.level(),
            _ => None,
        }
    }

    /// Takes the level of MQTT that the other direction has shown.
    pub(super) fn expect_level(&mut self, level: u8) {
        if let AnyGrammar::Mqtt(grammar) = &mut self.grammar {
            grammar.expect_level(level);
        }
    }

    #[inline]
    fn arguments(&self) -> &[u8] {
        match &self.grammar {
            AnyGrammar::Amqp091(grammar) => grammar.arguments.bytes(),
            AnyGrammar::Amqp10(grammar) => grammar.arguments.bytes(),
            AnyGrammar::RabbitmqStream(grammar) => grammar.arguments.bytes(),
            AnyGrammar::Mqtt(grammar) => grammar.arguments.bytes(),
            AnyGrammar::Tls(_) => &[],
        }
    }

    #[inline]
    fn reply(&self) -> Option<Reply<'_>> {
        with_grammar!(&self.grammar, grammar => grammar.reply.reply())
    }

    fn identifiers(&self) -> &[IdentifierRun] {
        match &self.grammar {
            AnyGrammar::RabbitmqStream(grammar) => grammar.identifiers(),
            _ => &[],
        }
    }
}

/// Returns whether a frame of the protocol may begin with these bytes, of which there may be few. This is a quick
/// check.
pub(super) fn may_begin(protocol: Protocol, bytes: &[u8]) -> bool {
    match protocol {
        Protocol::Amqp091 => amqp091::may_begin(bytes),
        Protocol::Amqp10 => amqp10::may_begin(bytes),
        Protocol::RabbitmqStream => rabbitmq_stream::may_begin(bytes),
        Protocol::Mqtt => mqtt::may_begin(bytes),
        Protocol::Tls => tls::may_begin(bytes),
    }
}

/// Returns the protocol of a direction that begins with these bytes, if it is certain.
pub(super) fn opening(bytes: &[u8]) -> Option<Protocol> {
    Protocol::ALL.into_iter().find(|protocol| match protocol {
        Protocol::Amqp091 => amqp091::opens(bytes),
        Protocol::Amqp10 => amqp10::opens(bytes),
        Protocol::RabbitmqStream => rabbitmq_stream::opens(bytes),
        Protocol::Mqtt => mqtt::opens(bytes),
        Protocol::Tls => tls::opens(bytes),
    })
}
