//! The set-up of a connection of AMQP 1.0: login, and the links of publishers.

use rabbitscope_amqp10::{Connection, Sender};
use rabbitscope_topology::{Amqp10Client, Dialer, Stream, TopologyError, amqp10_error};

use crate::{
    message::{Messages, session},
    plan::{LinkPlan, Members, Placement},
};

/// Connects and attaches the senders. Receivers attach when their consumers start. Returns the socket, the connection,
/// and the bytes that were read and not processed.
pub(super) fn set_up(
    plan: &LinkPlan<'_>,
    dialer: &Dialer,
    turn: usize,
) -> Result<(Stream, Connection, Vec<u8>), TopologyError> {
    let (mut client, address) = dialer.dial_amqp10(&plan.name, turn, plan.channels)?;
    if let Members::Publishers { messages, placements, .. } = &plan.members {
        for placement in placements {
            attach(*placement, messages, (&mut client, &address))?;
        }
    }
    let (stream, connection, leftover) = client.into_parts();
    stream.stop_waiting().map_err(|error| {
        amqp10_error(&address, &format!("setting up `{}`", plan.name), error.into())
    })?;
    Ok((stream, connection, leftover))
}

fn attach(
    placement: Placement,
    messages: &Messages<'_>,
    (client, address): (&mut Amqp10Client, &str),
) -> Result<(), TopologyError> {
    let (target, lane) = (messages.amqp10_target(placement.member), session(placement.channel));
    let (frame_max, addressing) =
        (client.connection().sent_frame_max(), client.connection().addressing());
    let (frames, size) = messages.amqp10_frames(frame_max, addressing);
    let sender = Sender {
        name: format!("publisher {}", placement.number),
        address: target.address(addressing),
        frames,
    };
    client
        .attach_sender(lane, &sender)
        .map_err(|error| amqp10_error(address, &format!("publishing to {target}"), error))?;
    // The broker opens its window again at half.
    let most = client.connection().window(lane) / 2;
    if frames > most {
        return Err(TopologyError::LinkRefused {
            address: address.to_owned(),
            doing: format!("messages of {size} bytes"),
            reason: format!("they have {frames} frames, and its sessions take {most} at once"),
            is_permission: false,
        });
    }
    Ok(())
}
