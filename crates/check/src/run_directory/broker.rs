//! The broker of a run: rates as the load generator counts them, settings and alarms as `broker.json` has them.

use rabbitscope_diagnosis::{Broker, Churn, MessageRates, Settings, Use};
use rabbitscope_runs::{
    record::{BrokerState, BrokerStates, SpanKind},
    scenario::{ChurnKind, ConsumerGroup},
};

use super::measured::Measured;

/// Share of the measured time that an alarm must last to count as the state of the run.
const ALARMED: f64 = 0.5;

/// Returns what is known of the broker. `states` is `broker.json`.
pub(super) fn broker(run: &Measured<'_>, states: Option<&BrokerStates>) -> Broker {
    let facts = &run.record.broker;
    let last = run.rows.last();
    Broker {
        version: facts.version.clone(),
        otp: facts.platform.trim_start_matches("Erlang/OTP ").to_owned(),
        nodes: facts.nodes.iter().map(|node| node.name.clone()).collect(),
        rates: rates(run),
        churn: churn(run),
        connections: last.map(|row| row.connections),
        memory: memory(run, states),
        alarms: alarms(run),
        settings: settings(states),
        mirroring_policies: mirroring(run),
        ..Broker::default()
    }
}

fn rates(run: &Measured<'_>) -> MessageRates {
    let counts = &run.counts;
    // Files of earlier versions do not count deliveries and settlements.
    let delivered = counts.delivered.max(counts.consumed);
    let groups = run.scenario.as_ref().map_or(&[][..], |scenario| &scenario.consumers);
    let every = |has: fn(&ConsumerGroup) -> bool| !groups.is_empty() && groups.iter().all(has);
    let acknowledges = every(|group| !group.auto_ack && !group.nack) && counts.settled > 0;
    let polls = every(|group| group.polling == Some(true));
    let rate = |count: u64| Some(run.rate(count));
    MessageRates {
        published: Some(run.rates.published()),
        confirmed: rate(counts.confirmed),
        delivered: rate(delivered),
        acknowledged: if acknowledges { rate(counts.settled) } else { None },
        redelivered: rate(counts.redelivered),
        unroutable: rate(counts.returned),
        got: if polls { rate(delivered) } else { None },
        get_empty: rate(counts.empty_polls),
    }
}

/// Returns the churn of a run whose groups open one kind of objects.
fn churn(run: &Measured<'_>) -> Option<Churn> {
    let groups = &run.scenario.as_ref()?.churn;
    let kind = groups.first()?.kind;
    let (opened, closed) = (run.rate(run.counts.churn_opened), run.rate(run.counts.churn_closed));
    let is_one_kind = groups.iter().all(|group| group.kind == kind);
    let of_one_kind = match kind {
        ChurnKind::Connections => {
            Churn { connections_opened: opened, connections_closed: closed, ..Churn::default() }
        }
        ChurnKind::Channels => {
            Churn { channels_opened: opened, channels_closed: closed, ..Churn::default() }
        }
        ChurnKind::Queues => Churn {
            queues_declared: opened,
            queues_created: opened,
            queues_deleted: closed,
            ..Churn::default()
        },
        ChurnKind::Bindings | ChurnKind::Consumers => return None,
    };
    is_one_kind.then_some(of_one_kind)
}

/// Returns the reasons of alarms that blocked connections most of the time.
fn alarms(run: &Measured<'_>) -> Vec<String> {
    let seconds = run.counts.alarm_nanos as f64 / 1e9;
    if run.seconds() <= 0.0 || seconds < ALARMED * run.seconds() {
        return Vec::new();
    }
    let spans = run.record.service.spans.iter().filter(|span| span.kind == SpanKind::Blocked);
    let mut reasons: Vec<String> = spans.map(|span| span.reason.clone()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    if reasons.is_empty() { vec!["memory or disk".to_owned()] } else { reasons }
}

/// Returns the resident memory against the alarm's watermark, if that is a share of this machine's memory.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes, not negative")]
fn memory(run: &Measured<'_>, states: Option<&BrokerStates>) -> Option<Use> {
    let used = run.mean(|row| row.broker_rss_bytes.map(|bytes| bytes as f64))?;
    let after = states?.after.as_ref().and_then(BrokerState::read)?;
    let share: f64 = after.setting("vm_memory_high_watermark")?.parse().ok()?;
    let limit = share * run.record.machine.memory_bytes as f64;
    (share > 0.0 && share <= 1.0).then_some(Use { used: used as u64, limit: limit as u64 })
}

/// Returns the settings that a throwaway broker reports.
fn settings(states: Option<&BrokerStates>) -> Settings {
    let before = states.and_then(|states| states.before.as_ref()).and_then(BrokerState::read);
    let Some(before) = before else { return Settings::default() };
    let other = before.environment.iter();
    Settings {
        statistics: before.setting("collect_statistics").map(str::to_owned),
        statistics_interval_ms: before
            .setting("collect_statistics_interval")
            .and_then(|ms| ms.parse().ok()),
        other: other.map(|(key, value)| (format!("rabbit.{key}"), value.clone())).collect(),
    }
}

/// Returns the policies with mirrors that a throwaway broker was given. Those of another broker are unknown.
fn mirroring(run: &Measured<'_>) -> Vec<String> {
    let policies = run.record.scenario["broker"]["policies"].as_array();
    let mirrors = policies.into_iter().flatten().filter(|policy| {
        policy["definition"].as_str().is_some_and(|text| text.contains("\"ha-mode\""))
    });
    mirrors.filter_map(|policy| Some(format!("//{}", policy["name"].as_str()?))).collect()
}
