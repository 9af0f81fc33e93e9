//! Messages that wait in queues when the load starts.

use std::{
    thread,
    time::{Duration, Instant},
};

use rabbitscope_amqp::{
    Event, Properties, Request,
    blocking::{Client, ClientError},
};
use rabbitscope_runs::scenario::QueueSpec;
use rabbitscope_topology::{
    Dialer, QueueSet, Stream, Topology, TopologyError, dial_error, request_error,
};

/// Messages between two commits, by which the broker holds the connection back, and bytes of their bodies.
const BATCH: usize = 1_000;
const BATCH_BYTES: usize = 4 << 20;

/// Time in which a queue counts what it holds.
const COUNTING: Duration = Duration::from_secs(5);

/// Publishes the messages of `prefill` into these queues over a connection of its own. The broker has taken them when this
/// returns.
pub(crate) fn prefill(queues: &[QueueSet], dialer: &Dialer) -> Result<(), TopologyError> {
    let filled: Vec<&QueueSet> = queues.iter().filter(|set| set.spec.prefill > 0).collect();
    if filled.is_empty() {
        return Ok(());
    }
    let answer = dialer.dial_idle("rabbitscope control", 0);
    let (mut client, uri) = answer.map_err(|failed| dial_error(failed.uri, failed.error))?;
    let published = filled.iter().try_for_each(|set| publish(&mut client, set));
    let published = published.and_then(|()| client.close());
    published.map_err(|error| request_error(uri, "publishing the messages of `prefill`", error))?;
    check(&filled, dialer)
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

/// Checks that queues hold what was published: a limit of length, a time to live or a policy drops messages.
fn check(queues: &[&QueueSet], dialer: &Dialer) -> Result<(), TopologyError> {
    let mut topology = Topology::connect(dialer)?;
    let end = Instant::now() + COUNTING;
    for set in queues {
        let wanted = set.spec.prefill;
        loop {
            let depths = topology.depths(&set.names)?;
            let mut depths = set.names.iter().zip(depths);
            let Some((name, depth)) = depths.find(|(_, depth)| *depth != Some(wanted)) else {
                break;
            };
            if Instant::now() >= end {
                let (queue, held) = (name.clone(), depth.unwrap_or(0));
                return Err(TopologyError::NotFilled { queue, held, wanted });
            }
            thread::sleep(Duration::from_millis(100));
        }
    }
    topology.close();
    Ok(())
}
