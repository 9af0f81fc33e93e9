//! Settings that the remedies of findings about packets change, so that no other finding contradicts them.

use rabbitscope_wire::report::{Finding, FindingRule};

use crate::rules::{
    config::{CHANNEL_LIFE, CONNECTION_LIFE, CONSUME, PREFETCH, UNCONFIRMED, WATERMARK},
    draft::{Advice, Aim},
};

/// Returns the remedy of a finding, with the setting that it changes and the direction.
pub(crate) fn advice(found: &Finding) -> Advice {
    let (aim, setting) = setting(found);
    Advice::new(aim, &setting, found.fix.clone(), cost(found.rule))
}

fn setting(found: &Finding) -> (Aim, String) {
    let names = |word: &str| found.fix.contains(word);
    let (aim, setting) = match found.rule {
        FindingRule::AckPerMessage => (Aim::Settle, "basic.ack multiple"),
        FindingRule::Polling => (Aim::Settle, CONSUME),
        FindingRule::ConnectionChurn => (Aim::Settle, CONNECTION_LIFE),
        FindingRule::ChannelChurn => (Aim::Settle, CHANNEL_LIFE),
        FindingRule::DelayedAcknowledgement => (Aim::Settle, "TCP_NODELAY"),
        FindingRule::ApplicationLimited if names("prefetch") => (Aim::Raise, PREFETCH),
        FindingRule::ApplicationLimited => (Aim::Raise, UNCONFIRMED),
        FindingRule::ZeroWindow | FindingRule::ReceiverLimited | FindingRule::ConnectionBlocked
            if names(WATERMARK) =>
        {
            (Aim::Raise, WATERMARK)
        }
        FindingRule::ZeroWindow | FindingRule::ReceiverLimited if names("prefetch") => {
            (Aim::Lower, PREFETCH)
        }
        FindingRule::ZeroWindow | FindingRule::ReceiverLimited => {
            (Aim::Settle, "rate of the publishers")
        }
        FindingRule::SendBufferLimited if names("sndbuf") => {
            (Aim::Raise, "tcp_listen_options.sndbuf")
        }
        FindingRule::SendBufferLimited => (Aim::Raise, "SO_SNDBUF"),
        // A remedy that depends on a code or a text: each is a setting of its own.
        rule => return (Aim::Settle, format!("{}: {}", rule.title(), found.fix)),
    };
    (aim, setting.to_owned())
}

/// Returns the cost of a remedy.
const fn cost(rule: FindingRule) -> &'static str {
    match rule {
        FindingRule::CaptureLoss => "fewer packets in the report",
        FindingRule::NetworkLimited => "a change of the network",
        FindingRule::SlowLogin => "a change of the node's machine or of a service that it asks",
        FindingRule::ConnectionBlocked => "see the alarm",
        FindingRule::SendBufferLimited => "memory of the kernel for each connection",
        _ => "a change of the client or of its surroundings",
    }
}
