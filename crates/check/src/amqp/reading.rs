//! The order of an observation: queues, requests until the end, queues again.

use std::{
    thread,
    time::{Duration, Instant},
};

use rabbitscope_amqp::{Event, Reply, Request, blocking::ClientError};
use rabbitscope_diagnosis::{Amqp, AmqpQueue, Part, QueueState, RoundTrips, Source};
use rabbitscope_topology::ControlClient;

use super::{AmqpOptions, queues};
use crate::{pending::Unready, refusal::from_text, span::Span};

/// Pause between two requests: ten a second cost a broker nothing that it could notice.
const PAUSE: Duration = Duration::from_millis(100);

const HEARTBEAT_SECONDS: u16 = 10;

/// Reads the broker within the span, and closes the connection.
pub(crate) fn read(options: &AmqpOptions, span: &Span, unready: Unready) -> Part<Amqp> {
    let client = options.dialer.client("rabbitscope check", HEARTBEAT_SECONDS);
    let mut client = client.map_err(|error| from_text(Source::Amqp, &error.to_string()))?;
    let mut observation = Observation::new(&client, options);
    let ended = observation.observe(&mut client, &options.queues, (span, unready)).err();
    let seconds = observation.began.map_or(0.0, |began| began.elapsed().as_secs_f64());
    // The broker may not agree to the end in time. The connection ends all the same.
    let _ = client.close();
    Ok(observation.finish(seconds, ended.as_ref()))
}

/// Everything that was seen so far.
struct Observation {
    found: Amqp,
    /// Absent if the broker ended the connection before the span.
    began: Option<Instant>,
    nanos: Vec<u64>,
}

impl Observation {
    fn new(client: &ControlClient, options: &AmqpOptions) -> Self {
        let properties = client.connection().server_properties();
        let text = |name: &str| properties.text(name).unwrap_or_default().to_owned();
        let named = |name: &String| AmqpQueue { name: name.clone(), ..AmqpQueue::default() };
        let found = Amqp {
            address: options.address(),
            product: text("product"),
            version: text("version"),
            platform: text("platform"),
            queues: options.queues.iter().map(named).collect(),
            ..Amqp::default()
        };
        Self { found, began: None, nanos: Vec::new() }
    }

    /// Asks for queues before and after the span: a capture of packets should not have their refusals.
    fn observe(
        &mut self,
        client: &mut ControlClient,
        names: &[String],
        (span, unready): (&Span, Unready),
    ) -> Result<(), ClientError> {
        let channel = client.open_channel()?;
        self.ask(client, names, |queue, state| queue.at_start = Some(state))?;
        drop(unready);
        span.wait_for_begin();
        self.began = Some(Instant::now());
        while !span.is_over() {
            self.request(client, channel)?;
            client.poll(PAUSE, |event| {
                self.hear(&event);
                false
            })?;
        }
        thread::sleep(PAUSE);
        self.ask(client, names, |queue, state| queue.at_end = Some(state))
    }

    fn ask(
        &mut self,
        client: &mut ControlClient,
        names: &[String],
        set: impl Fn(&mut AmqpQueue, QueueState),
    ) -> Result<(), ClientError> {
        let answers = queues::ask(client, names, |event| self.hear(event))?;
        for (queue, answer) in self.found.queues.iter_mut().zip(answers) {
            match answer {
                Ok(state) => set(queue, state),
                Err(reason) => queue.refusal = Some(reason),
            }
        }
        Ok(())
    }

    /// Sends a request that changes nothing, and measures the time of its answer.
    fn request(&mut self, client: &mut ControlClient, channel: u16) -> Result<(), ClientError> {
        let sent = Instant::now();
        client.send(channel, &Request::Flow { active: true });
        client.wait(|event| {
            self.hear(&event);
            match event {
                Event::Reply { channel: of, reply: Reply::FlowSet { .. } } if of == channel => {
                    Some(Ok(()))
                }
                Event::ChannelClosed { channel: of, refusal: Some(refusal) } if of == channel => {
                    Some(Err(ClientError::Refused(refusal)))
                }
                _ => None,
            }
        })?;
        self.nanos.push(u64::try_from(sent.elapsed().as_nanos()).unwrap_or(u64::MAX));
        Ok(())
    }

    fn hear(&mut self, event: &Event<'_>) {
        match event {
            Event::Blocked { reason } => self.found.blocked = Some(reason.clone()),
            Event::Unblocked => self.found.blocked = None,
            _ => {}
        }
    }

    fn finish(self, seconds: f64, ended: Option<&ClientError>) -> Amqp {
        let round_trips = RoundTrips::from_nanos(self.nanos);
        let ended = ended.map(ClientError::to_string);
        Amqp { seconds, round_trips, ended, ..self.found }
    }
}
