//! Performatives by their descriptors, and their fields.

use super::{
    super::details::{Details, Disposition, Outcome, Transfer},
    fields::{Fields, Value},
};

pub(super) const OPEN: u8 = 0x10;
pub(super) const TRANSFER: u8 = 0x14;
const BEGIN: u8 = 0x11;
const DISPOSITION: u8 = 0x15;

/// Returns the name of an AMQP performative.
pub(super) const fn name(descriptor: u8) -> Option<&'static str> {
    Some(match descriptor {
        OPEN => "open",
        BEGIN => "begin",
        0x12 => "attach",
        0x13 => "flow",
        TRANSFER => "transfer",
        DISPOSITION => "disposition",
        0x16 => "detach",
        0x17 => "end",
        0x18 => "close",
        _ => return None,
    })
}

/// Returns the name of a performative of the SASL layer.
pub(super) const fn sasl_name(descriptor: u8) -> Option<&'static str> {
    Some(match descriptor {
        0x40 => "sasl-mechanisms",
        0x41 => "sasl-init",
        0x42 => "sasl-challenge",
        0x43 => "sasl-response",
        0x44 => "sasl-outcome",
        _ => return None,
    })
}

/// Reads the fields; `payload_bytes` follow the performative.
pub(super) fn details(descriptor: u8, fields: &[u8], payload_bytes: u32) -> Details {
    let mut fields = Fields::new(fields);
    match descriptor {
        BEGIN => Details::Begin(fields.unsigned().and_then(|channel| u16::try_from(channel).ok())),
        TRANSFER => transfer(&mut fields, payload_bytes),
        DISPOSITION => disposition(&mut fields),
        _ => Details::None,
    }
}

/// Reads a transfer (section 2.7.5).
fn transfer(fields: &mut Fields<'_>, payload_bytes: u32) -> Details {
    let handle = fields.unsigned().unwrap_or(0);
    let delivery_id = fields.unsigned();
    let delivery_tag_bytes = match fields.next() {
        Value::Binary(bytes) => Some(bytes),
        _ => None,
    };
    fields.skip(1);
    let settled = fields.boolean();
    let more = fields.boolean();
    fields.skip(3);
    let aborted = fields.boolean();
    Details::Transfer(Transfer {
        handle,
        delivery_id,
        delivery_tag_bytes,
        settled,
        more,
        aborted,
        payload_bytes,
        sections: None,
    })
}

/// Reads a disposition (section 2.7.6).
fn disposition(fields: &mut Fields<'_>) -> Details {
    let is_receiver = fields.boolean();
    let first = fields.unsigned().unwrap_or(0);
    let last = fields.unsigned().unwrap_or(first);
    let settled = fields.boolean();
    let state = match fields.next() {
        Value::Described(descriptor) => u8::try_from(descriptor).ok(),
        _ => None,
    };
    let outcome = match state {
        Some(0x24) => Some(Outcome::Accepted),
        // Rejected, released, modified.
        Some(0x25..=0x27) => Some(Outcome::Refused),
        _ => None,
    };
    Details::Disposition(Disposition { is_receiver, first, last, settled, outcome, state })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_transfers_and_dispositions() {
        let fields = [0x43, 0x52, 9, 0xa0, 2, 1, 2, 0x43, 0x42, 0x41];
        let expected = Transfer {
            handle: 0,
            delivery_id: Some(9),
            delivery_tag_bytes: Some(2),
            settled: false,
            more: true,
            aborted: false,
            payload_bytes: 7,
            sections: None,
        };
        assert_eq!(details(TRANSFER, &fields, 7), Details::Transfer(expected));
        let fields = [0x41, 0x52, 3, 0x52, 5, 0x41, 0x00, 0x53, 0x24, 0x45];
        let outcome = Some(Outcome::Accepted);
        let (is_receiver, settled, state) = (true, true, Some(0x24));
        let expected = Disposition { is_receiver, first: 3, last: 5, settled, outcome, state };
        assert_eq!(details(DISPOSITION, &fields, 0), Details::Disposition(expected));
    }
}
