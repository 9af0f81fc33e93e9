//! The language of these tests: events of links at their times, in nanoseconds.

use rabbitscope_runs::scenario::{self, Scenario};
use rabbitscope_wire::{
    activity::{
        Action, ActivityListener, Attach, Client, Ends, Event, Place, SettledRange, Settlement,
    },
    packet::Timestamp,
    protocols::Protocol,
    report::Side,
};

use super::super::talk::SECOND;
use crate::{Flows, Model, Observer, Origin, Topology, model};

/// Length of the observation.
pub(super) const END: u64 = 20 * SECOND;

/// What happens on connections of one protocol.
pub(super) struct Links {
    protocol: Protocol,
    steps: Vec<(u64, (u64, u16), Side, Action<'static>)>,
    opened: Vec<bool>,
}

impl Links {
    pub(super) fn new(protocol: Protocol) -> Self {
        Self { protocol, steps: Vec::new(), opened: Vec::new() }
    }

    pub(super) fn connection(&mut self, from_the_start: bool) -> u64 {
        self.opened.push(from_the_start);
        self.opened.len() as u64 - 1
    }

    /// Adds a connection whose client introduces itself by a program, and as a group of a scenario.
    pub(super) fn client(&mut self, product: &'static str, group: Option<&'static str>) -> u64 {
        let connection = self.connection(true);
        let group = group.map(str::as_bytes);
        let client = Client { product: product.as_bytes(), group, ..Client::default() };
        self.step(1, (connection, 0), Side::Client, Action::Start(client));
        connection
    }

    pub(super) fn step(&mut self, at: u64, link: (u64, u16), side: Side, action: Action<'static>) {
        self.steps.push((at, link, side, action));
    }

    pub(super) fn attach(&mut self, link: (u64, u16), attach: Attach<'static>) {
        self.step(2, link, Side::Client, Action::Attach(attach));
    }

    pub(super) fn settle(
        &mut self,
        at: u64,
        link: (u64, u16),
        side: Side,
        (first, last): (u64, u64),
        settlement: Settlement,
    ) {
        let range = SettledRange { first, last, settlement };
        self.step(at, link, side, Action::SettleRange(range));
    }

    pub(super) fn flows(&self) -> Flows {
        let mut observer = Observer::default();
        for (number, from_the_start) in (0..).zip(&self.opened) {
            let ends = Ends {
                client: ([127, 0, 0, 1], 40_000 + u16::try_from(number).unwrap()).into(),
                broker: ([127, 0, 0, 1], 5_672).into(),
                from_the_start: *from_the_start,
                time: Timestamp::from_unix_nanos(0),
            };
            observer.opened(number, &ends);
        }
        let mut steps: Vec<_> = self.steps.iter().collect();
        steps.sort_by_key(|(at, ..)| *at);
        for (at, (connection, channel), sender, action) in steps {
            let event = Event {
                sender: *sender,
                protocol: self.protocol,
                channel: *channel,
                time: Timestamp::from_unix_nanos(*at),
                first_packet: 1,
                last_packet: 1,
                frames: 1,
                is_frame_by_frame: false,
                action: *action,
            };
            observer.event(*connection, &event);
        }
        for number in (0..).take(self.opened.len()) {
            observer.ended(number, Timestamp::from_unix_nanos(END), false);
        }
        observer.finish()
    }

    #[track_caller]
    pub(super) fn scenario(&self, topology: Topology) -> (String, Scenario) {
        written(&model(&mut self.flows(), topology))
    }
}

/// Returns the text of a scenario, which may have no group.
pub(super) fn text_of(model: &Model) -> String {
    let origin = Origin { name: "test".to_owned(), ..Origin::default() };
    crate::scenario(model, &origin, crate::RunLength::from_seconds(10))
}

#[track_caller]
pub(super) fn written(model: &Model) -> (String, Scenario) {
    let text = text_of(model);
    let read = scenario::parse(&text, "test", &[]);
    let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
    (text, read)
}

/// Returns the text with its comments on one line each.
pub(super) fn one_line(text: &str) -> String {
    text.replace("\n#  ", "").replace("\n# ", " ")
}

pub(super) fn begin(place: Place<'static>, is_reader: bool) -> Attach<'static> {
    Attach {
        is_reader,
        place,
        is_settled: false,
        credit: None,
        has_reference: false,
        start: None,
        name: b"",
        is_single_active: false,
        filters: 0,
        priority: None,
    }
}
