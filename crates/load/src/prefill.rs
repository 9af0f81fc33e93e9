//! Messages that wait in queues when the load starts.

use rabbitscope_amqp::{
    Event, Properties, Request,
    blocking::{Client, ClientError},
};
use rabbitscope_runs::scenario::QueueSpec;
use rabbitscope_topology::{Dialer, QueueSet, Stream, TopologyError, dial_error, request_error};

/// Messages between two commits, by which the broker holds the connection back, and bytes of their bodies.
const BATCH: usize = 1_000;
const BATCH_BYTES: usize = 4 << 20;

/// Publishes the messages of `prefill` into these queues over a connection of its own. The broker has taken them when this
/// returns.
pub(crate) fn prefill(queues: &[QueueSet], dialer: &Dialer) -> Result<(), TopologyError> {
    let filled: Vec<&QueueSet> = queues.iter().filter(|set| set.spec.prefill > 0).collect();
    if filled.is_empty() {
        return Ok(());
    }
    let answer = dialer.dial_idle("rabbitscope control", 0);
    let (mut client, uri) = answer.map_err(|failed| dial_error(failed.uri, failed.error))?;
    let published = filled.into_iter().try_for_each(|set| publish(&mut client, set));
    let published = published.and_then(|()| client.close());
    published.map_err(|error| request_error(uri, "publishing the messages of `prefill`", error))
}

fn publish(client: &mut Client<Stream>, set: &QueueSet) -> Result<(), ClientError> {
    let QueueSpec { prefill, prefill_size, durable, .. } = set.spec;
    let channel = client.open_channel()?;
    client.call(channel, &Request::TxSelect)?;
    let delivery_mode = durable.then_some(2);
    let properties = Properties { delivery_mode, ..Properties::default() };
    let body = vec![b'0'; prefill_size.unwrap_or(0) as usize];
    let mut open = 0;
    for name in (0..prefill).flat_map(|_| &set.names) {
        client.publish(channel, name, &properties, &body);
        open += 1;
        if open == BATCH || open * body.len() >= BATCH_BYTES {
            client.call(channel, &Request::TxCommit)?;
            open = 0;
        }
    }
    client.call(channel, &Request::TxCommit)?;
    client.end_channel(channel);
    client.wait(|event| match event {
        Event::ChannelClosed { channel: closed, .. } if closed == channel => Some(Ok(())),
        _ => None,
    })
}
