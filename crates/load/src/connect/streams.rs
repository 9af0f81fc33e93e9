//! The set-up of a connection of the stream protocol: the node, its abilities, and publishers.

use rabbitscope_protocol::Wire as _;
use rabbitscope_streams::{Connection, blocking::Abilities};
use rabbitscope_topology::{Dialer, Stream, StreamClient, StreamEnd, TopologyError, stream_error};

use crate::{
    message::{Messages, number, sub_entry_codec},
    plan::{LinkPlan, Members},
};

/// Connects to a node of the first member's stream, and declares the publishers. Returns the socket, the connection, and
/// bytes that are not parsed yet.
pub(super) fn set_up(
    plan: &LinkPlan<'_>,
    dialer: &Dialer,
    turn: usize,
) -> Result<(Stream, Connection, Vec<u8>), TopologyError> {
    let streams = plan.members.streams();
    let first = streams.first().map_or("", |(_, stream)| stream);
    let is_publishing = matches!(plan.members, Members::Publishers { .. });
    let end = if is_publishing { StreamEnd::Publishing } else { StreamEnd::Reading };
    let (mut client, address) = dialer.dial_stream(&plan.name, turn, (first, end))?;
    is_able(plan, &mut client, &address)?;
    if let Members::Publishers { group, messages, .. } = &plan.members {
        fits(messages, &mut client, &address)?;
        if let Some(size) = group.sub_entry_size {
            client.connection().set_sub_entries(size, sub_entry_codec(group));
        }
        if !group.filter_values.is_empty() {
            client.connection().set_filters();
        }
        declare(plan, &mut client, &address)?;
    }
    let (stream, connection, leftover) = client.into_parts();
    let failed = |error: std::io::Error| {
        stream_error(&address, &format!("setting up `{}`", plan.name), error.into())
    };
    stream.stop_waiting().map_err(failed)?;
    Ok((stream, connection, leftover))
}

/// Checks that the server can do what the members need.
fn is_able(
    plan: &LinkPlan<'_>,
    client: &mut StreamClient,
    address: &str,
) -> Result<(), TopologyError> {
    let (is_single, is_filtered) = match &plan.members {
        Members::Publishers { group, .. } => (false, !group.filter_values.is_empty()),
        Members::Consumers { plan, .. } => {
            (plan.group.single_active_consumer, !plan.group.wanted_values().is_empty())
        }
        _ => (false, false),
    };
    if !is_single && !is_filtered {
        return Ok(());
    }
    let asking = "asking for its abilities";
    let Abilities { single_active_consumers, filters } =
        client.abilities().map_err(|error| stream_error(address, asking, error))?;
    let needs = [
        (is_single && !single_active_consumers, "single active consumers of streams", "3.11"),
        (is_filtered && !filters, "filters of streams", "3.13"),
    ];
    let Some((_, what, release)) = needs.into_iter().find(|(is_missing, ..)| *is_missing) else {
        return Ok(());
    };
    let version =
        client.connection().property("version").unwrap_or("an unknown version").to_owned();
    Err(refused(
        address,
        what,
        format!("RabbitMQ has them from {release} on, and this is {version}"),
    ))
}

/// Checks that the largest message fits into a frame.
fn fits(
    messages: &Messages<'_>,
    client: &mut StreamClient,
    address: &str,
) -> Result<(), TopologyError> {
    let (size, most) = (messages.largest_of_stream(), client.connection().frame_max());
    if size <= most as usize {
        return Ok(());
    }
    let reason = format!("its frames have at most {most} (`stream.frame_max`)");
    Err(refused(address, &format!("messages of {size} bytes"), reason))
}

fn refused(address: &str, doing: &str, reason: String) -> TopologyError {
    let (address, doing) = (address.to_owned(), doing.to_owned());
    TopologyError::StreamRefused { address, doing, reason, is_permission: false }
}

fn declare(
    plan: &LinkPlan<'_>,
    client: &mut StreamClient,
    address: &str,
) -> Result<(), TopologyError> {
    let has_partitions = plan.members.has_partitions();
    for (index, (place, stream)) in plan.members.streams().iter().enumerate() {
        let reference = plan.members.reference(&plan.run, *place);
        let lane = number(place.channel);
        let id =
            if has_partitions { number(u16::try_from(index).unwrap_or(u16::MAX)) } else { lane };
        let request = client.connection().declare_publisher(lane, id, stream, &reference);
        let doing = format!("publishing to stream `{stream}`");
        client.answered(request).map_err(|error| stream_error(address, &doing, error))?;
    }
    Ok(())
}
