//! Sizes and properties of messages.

use super::{
    lines::{Lines, figure, percent, quoted, size, time},
    streams,
};
use crate::{
    figures::{Kind, Mix},
    groups::{PublisherGroup, Sizes},
    observe::Protocol,
};

/// Share of messages from which on a difference is worth a comment.
const SHARE_MIN: f64 = 0.02;
/// Share of messages below which a size is left out.
const RARE: f64 = 0.001;

/// Most bytes of bodies that a run keeps for a group, each with each of its properties.
const MIXED_BYTES_MAX: f64 = 64e6;

/// Returns the kinds of a group's messages, if the scenario can draw them.
fn mix(group: &PublisherGroup) -> Option<Mix> {
    if group.settings.protocol != Protocol::Amqp091 {
        return None;
    }
    let bytes: f64 = group.sizes.weighted().iter().map(|(size, _)| *size as f64).sum();
    let mix = group.kinds.mix()?;
    (bytes * mix.shares.len() as f64 <= MIXED_BYTES_MAX).then_some(mix)
}

/// Says which messages differ from most, unless the group draws them.
pub(super) fn comments(lines: &mut Lines, group: &PublisherGroup) {
    let mix = mix(group);
    let [priority, expiration, headers] = group.kinds.unusual();
    let has_headers = mix.as_ref().is_some_and(|mix| mix.has_headers);
    let mut others = Vec::new();
    for (share, thing, is_drawn) in [
        (priority, "priority", mix.is_some()),
        (expiration, "expiration", mix.is_some()),
        (headers, "headers", has_headers),
    ] {
        if share > SHARE_MIN && !is_drawn {
            others.push(format!("{} have another {thing}", percent(share)));
        }
    }
    let persistent = group.persistent_share;
    if persistent > SHARE_MIN && persistent < 1.0 - SHARE_MIN && mix.is_none() {
        others.push(format!("{} are persistent", percent(persistent)));
    }
    if group.settings.is_unanswered {
        lines.comment("Messages name a queue for replies, but nobody answered: they are taken for no requests.");
    }
    if !others.is_empty() {
        lines.comment(&format!("Not expressed: {}.", others.join("; ")));
    }
}

/// Writes that each frame of a message goes by itself, if the clients do so.
pub(super) fn way_of_writing(lines: &mut Lines, group: &PublisherGroup) {
    if group.frame_by_frame > 0.5 {
        lines.text("write", "per-frame");
    }
}

/// Writes one size, or sizes with their shares of the messages.
pub(super) fn sizes(lines: &mut Lines, group: &PublisherGroup) {
    if let Some(bytes) = group.sizes.single() {
        return lines.key("size", &size(bytes));
    }
    let mut weighted = group.sizes.weighted();
    weighted.retain(|(_, share)| *share >= RARE);
    if weighted.len() < 2 {
        let only = weighted.first().map_or(0, |(bytes, _)| *bytes);
        return lines.key("size", &size(only));
    }
    if streams::is_compressed(group) {
        lines.comment(&format!("Not expressed: sizes differ ({}).", describe(&group.sizes)));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size")]
        return lines.key("size", &size(group.sizes.mean.round() as u64));
    }
    lines.comment(&format!("Sizes: {}. Their order is random here.", describe(&group.sizes)));
    let entry = |(bytes, share)| format!("{{ size = {}, share = {} }}", size(bytes), figure(share));
    lines.list("size-shares", weighted.into_iter().map(entry));
}

/// Returns a distribution of sizes for a comment.
pub(super) fn describe(sizes: &Sizes) -> String {
    let exact: f64 = sizes.atoms.iter().map(|(_, share)| share).sum();
    let mean = figure(sizes.mean);
    match sizes.atoms.len() {
        0 => format!("mean {mean} B"),
        atoms => format!("{atoms} exact ones are {}, mean {mean} B", percent(exact)),
    }
}

/// Writes the delivery mode and properties, of the same number and size as the observed ones.
pub(super) fn properties(lines: &mut Lines, group: &PublisherGroup) {
    let settings = &group.settings;
    if settings.protocol == Protocol::Stream {
        return;
    }
    let is_amqp091 = settings.protocol == Protocol::Amqp091;
    let usual = Kind {
        priority: settings.priority,
        expiration: settings.expiration,
        is_persistent: settings.persistent,
        headers: settings.headers,
    };
    let mix = mix(group).unwrap_or_else(|| Mix { shares: vec![(1.0, usual)], has_headers: true });
    let common = Common::new(&mix);
    // By MQTT it follows from the quality of service.
    if common.is_persistent && usual.is_persistent && !settings.protocol.is_mqtt() {
        lines.key("persistent", "true");
    }
    let mut entries = common.entries(&usual, true);
    let mut text_bytes = group.text_bytes;
    let digits = usual.expiration.filter(|millis| *millis > 0 && is_amqp091);
    if let Some(millis) = digits {
        text_bytes -= millis.to_string().len() as f64;
    }
    if text_bytes >= 4.0 && !settings.is_request {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 255")]
        let bytes = text_bytes.min(255.0) as usize;
        // Only AMQP 0-9-1 has an id of the program.
        let key = if is_amqp091 { "app-id" } else { "content-type" };
        entries.push(format!("{key} = {}", quoted(&"0".repeat(bytes))));
    }
    let of_shares = mix.shares.iter().map(|(share, kind)| (*share, common.entries(kind, false)));
    let of_shares: Vec<_> = of_shares.collect();
    let has_sizes = text_bytes >= 4.0 || mix.shares.iter().any(|(_, kind)| kind.headers.is_some());
    if has_sizes && !(entries.is_empty() && of_shares.iter().all(|(_, own)| own.is_empty())) {
        lines.comment(
            "Properties have the number and the size of the observed ones, not their values.",
        );
    }
    if !entries.is_empty() {
        lines.key("properties", &table(&entries));
    }
    if of_shares.len() > 1 {
        lines.comment("Their order is random here.");
        let share = |(share, own): (f64, Vec<String>)| match &own[..] {
            [] => format!("{{ share = {} }}", figure(share)),
            own => format!("{{ share = {}, properties = {} }}", figure(share), table(own)),
        };
        lines.list("property-shares", of_shares.into_iter().map(share));
    }
}

fn table(entries: &[String]) -> String {
    format!("{{ {} }}", entries.join(", "))
}

/// Properties that are the same in all kinds of a mix.
#[expect(clippy::struct_excessive_bools, reason = "one for each property")]
struct Common {
    priority: bool,
    expiration: bool,
    is_persistent: bool,
    headers: bool,
}

impl Common {
    fn new(mix: &Mix) -> Self {
        let kinds = || mix.shares.iter().map(|(_, kind)| kind);
        let first = kinds().next().copied().unwrap_or_default();
        Self {
            priority: kinds().all(|kind| kind.priority == first.priority),
            expiration: kinds().all(|kind| kind.expiration == first.expiration),
            is_persistent: kinds().all(|kind| kind.is_persistent == first.is_persistent),
            headers: !mix.has_headers || kinds().all(|kind| kind.headers == first.headers),
        }
    }

    /// Returns the properties of a kind that are common to all, or those that are not.
    fn entries(&self, kind: &Kind, common: bool) -> Vec<String> {
        let mut entries = Vec::new();
        if !common && !self.is_persistent && kind.is_persistent {
            entries.push("delivery-mode = 2".to_owned());
        }
        if let Some(priority) = kind.priority.filter(|_| self.priority == common) {
            entries.push(format!("priority = {priority}"));
        }
        let expiration = kind.expiration.filter(|millis| *millis > 0 && self.expiration == common);
        if let Some(millis) = expiration {
            entries.push(format!("expiration = {}", time(millis as f64 * 1e6)));
        }
        let headers = kind.headers.filter(|_| self.headers == common);
        if let Some(headers) = headers.and_then(headers_of) {
            entries.push(format!("headers = {headers}"));
        }
        entries
    }
}

/// Returns as many headers of the same size; none if they are too small for texts.
fn headers_of((count, bytes): (u16, u32)) -> Option<String> {
    let keys: Vec<String> = (1..=count).map(|number| format!("h{number}")).collect();
    // Length and text of the key, a letter, and the length of the value.
    let overhead: usize = keys.iter().map(|key| 1 + key.len() + 1 + 4).sum();
    let values = usize::try_from(bytes).ok()?.checked_sub(overhead)?;
    let each = values.checked_div(keys.len())?;
    let rest = values - each * keys.len();
    let entry = |(place, key): (usize, &String)| {
        let bytes = each + if place == 0 { rest } else { 0 };
        format!("{key} = {}", quoted(&"0".repeat(bytes)))
    };
    let entries: Vec<String> = keys.iter().enumerate().map(entry).collect();
    (values < 100_000).then(|| format!("{{ {} }}", entries.join(", ")))
}
