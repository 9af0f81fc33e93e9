//! The number of ready messages and of consumers, by passive declarations. They create nothing, and need no permission
//! but access to the virtual host.

use std::collections::BTreeMap;

use rabbitscope_amqp::{Event, Reply, Request, Table, blocking::ClientError};
use rabbitscope_diagnosis::QueueState;
use rabbitscope_topology::ControlClient;

/// The answer for each queue, or the reason for its lack.
pub(super) type Answers = Vec<Result<QueueState, String>>;

/// Asks for all queues at the same time, each on a channel of its own: a refusal closes the channel. `heard` takes all
/// other events.
pub(super) fn ask(
    client: &mut ControlClient,
    names: &[String],
    mut heard: impl FnMut(&Event<'_>),
) -> Result<Answers, ClientError> {
    let mut answers: Answers = vec![Err("no answer in time".to_owned()); names.len()];
    let mut open: BTreeMap<u16, usize> = BTreeMap::new();
    for (index, name) in names.iter().enumerate() {
        let channel = client.begin_channel()?;
        client.send(channel, &passive(name, &Table::default()));
        open.insert(channel, index);
    }
    let channels: Vec<u16> = open.keys().copied().collect();
    if channels.is_empty() {
        return Ok(answers);
    }
    let waited = client.wait(|event| {
        heard(&event);
        if let Some((channel, answer)) = answer(event)
            && let Some(index) = open.remove(&channel)
        {
            answers[index] = answer;
        }
        open.is_empty().then_some(Ok(()))
    });
    match waited {
        Ok(()) | Err(ClientError::TimedOut { .. }) => {}
        Err(error) => return Err(error),
    }
    let is_open = |channel: &u16| !open.contains_key(channel);
    for channel in channels.into_iter().filter(is_open) {
        client.end_channel(channel);
    }
    Ok(answers)
}

fn answer(event: Event<'_>) -> Option<(u16, Result<QueueState, String>)> {
    match event {
        Event::Reply { channel, reply: Reply::QueueDeclared { messages, consumers, .. } } => {
            let (ready, consumers) = (u64::from(messages), u64::from(consumers));
            Some((channel, Ok(QueueState { ready, consumers })))
        }
        Event::ChannelClosed { channel, refusal: Some(refusal) } => {
            Some((channel, Err(refusal.text)))
        }
        _ => None,
    }
}

fn passive<'a>(queue: &'a str, none: &'a Table) -> Request<'a> {
    Request::QueueDeclare {
        queue,
        passive: true,
        durable: false,
        exclusive: false,
        auto_delete: false,
        arguments: none,
    }
}
