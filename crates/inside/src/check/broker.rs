//! Figures and settings of the broker, from the agent's answer.

use std::collections::BTreeMap;

use rabbitscope_diagnosis::{Broker, Churn, MessageRates, Settings, Use};
use rabbitscope_erlang::Term;

use super::fields::Fields;
use crate::{figures, limits::Limits};

/// Reads the broker's figures and settings.
pub(super) fn broker(answer: Fields<'_>, node: &str) -> Option<Broker> {
    let facts = Fields(answer.term("facts")?);
    let figures = Fields(answer.term("broker")?);
    let seconds = figures.number("elapsed_us")?.max(1) as f64 / 1e6;
    let settings = settings(answer);
    let counts_gets = settings.statistics.as_deref() == Some("fine");
    let atoms = |key| facts.list(key).iter().filter_map(Term::as_atom).map(str::to_owned);
    let connections = answer.term("connections").map(Fields);
    Some(Broker {
        version: facts.text("version"),
        otp: facts.text("otp"),
        nodes: atoms("nodes").collect(),
        rates: figures
            .term("counters")
            .map(|counters| rates(Fields(counters), seconds, counts_gets))
            .unwrap_or_default(),
        churn: figures.rates("churn", seconds).and_then(|counts| churn(&counts)),
        connections: facts.number("connections"),
        channels: facts.number("channels"),
        consumers: facts.number("consumers"),
        memory_bytes: memory_kinds(facts),
        memory: facts.term("memory").and_then(used_and_limit),
        disk_free_bytes: facts.number("disk_free"),
        disk_limit_bytes: facts.number("disk_limit"),
        descriptors: facts
            .term("limits")
            .and_then(Limits::from_term)
            .and_then(|limits| limits.usage("descriptors"))
            .map(|(used, limit)| Use { used, limit }),
        alarms: facts.list("alarms").iter().filter_map(|alarm| alarm_of(alarm, node)).collect(),
        blocked_connections: connections.and_then(|all| all.number("blocked")),
        settings,
        mirroring_policies: facts.list("mirroring").iter().filter_map(policy).collect(),
        traced_vhosts: facts.list("traced").iter().filter_map(Term::to_text).collect(),
    })
}

/// Messages per second. RabbitMQ counts successful gets together with the fine statistics only.
fn rates(counters: Fields<'_>, seconds: f64, counts_gets: bool) -> MessageRates {
    let rate = |key| Some(counters.float(key)? / seconds);
    MessageRates {
        published: rate("published"),
        confirmed: rate("confirmed"),
        delivered: rate("delivered"),
        acknowledged: rate("acknowledged"),
        redelivered: rate("redelivered"),
        unroutable: rate("unroutable"),
        got: rate("got").filter(|_| counts_gets),
        get_empty: rate("get_empty"),
    }
}

fn churn(rates: &[f64]) -> Option<Churn> {
    let &[
        connections_opened,
        connections_closed,
        channels_opened,
        channels_closed,
        queues_declared,
        queues_created,
        queues_deleted,
    ] = rates
    else {
        return None;
    };
    Some(Churn {
        connections_opened,
        connections_closed,
        channels_opened,
        channels_closed,
        queues_declared,
        queues_created,
        queues_deleted,
    })
}

fn memory_kinds(facts: Fields<'_>) -> BTreeMap<String, u64> {
    let kinds = facts.term("memory_kinds").and_then(figures::memory).unwrap_or_default();
    kinds.into_iter().map(|(kind, bytes)| (kind.to_owned(), bytes)).collect()
}

fn used_and_limit(term: &Term) -> Option<Use> {
    let [used, limit] = term.as_tuple()? else { return None };
    Some(Use { used: used.as_u64()?, limit: limit.as_u64()? })
}

/// Names an alarm; one of another node also by its node.
fn alarm_of(term: &Term, own: &str) -> Option<String> {
    let [alarm, node] = term.as_tuple()? else { return None };
    let (alarm, node) = (alarm.as_atom()?, node.as_atom()?);
    Some(if node == own { alarm.to_owned() } else { format!("{alarm} on {node}") })
}

fn policy(term: &Term) -> Option<String> {
    let [vhost, name] = term.as_tuple()? else { return None };
    Some(format!("{}/{}", vhost.to_text()?, name.to_text()?))
}

fn settings(answer: Fields<'_>) -> Settings {
    let other: BTreeMap<String, String> = answer
        .list("settings")
        .iter()
        .filter_map(|setting| match setting.as_tuple()? {
            [app, key, value] => {
                Some((format!("{}.{}", app.as_atom()?, key.as_atom()?), value.to_text()?))
            }
            _ => None,
        })
        .collect();
    Settings {
        statistics: other.get("rabbit.collect_statistics").cloned(),
        statistics_interval_ms: other
            .get("rabbit.collect_statistics_interval")
            .and_then(|text| text.parse().ok()),
        other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_of_another_node_names_it() {
        let alarm = |node: &str| Term::tuple([Term::atom("disk"), Term::atom(node)]);
        assert_eq!(alarm_of(&alarm("a@b"), "a@b").unwrap(), "disk");
        assert_eq!(alarm_of(&alarm("c@d"), "a@b").unwrap(), "disk on c@d");
        assert_eq!(alarm_of(&Term::atom("disk"), "a@b"), None);
    }

    #[test]
    fn gets_are_known_with_fine_statistics_only() {
        let counters = Term::map([("got", 30.into()), ("get_empty", 60.into())]);
        let rates_of = |counts_gets| rates(Fields(&counters), 3.0, counts_gets);
        assert_eq!((rates_of(true).got, rates_of(true).get_empty), (Some(10.0), Some(20.0)));
        assert_eq!((rates_of(false).got, rates_of(false).published), (None, None));
    }

    #[test]
    fn settings_are_texts_by_application_and_key() {
        let setting = |key: &str, value: &str| {
            Term::tuple([Term::atom("rabbit"), Term::atom(key), Term::text(value)])
        };
        let all =
            [setting("collect_statistics", "fine"), setting("collect_statistics_interval", "5000")];
        let answer = Term::map([("settings", Term::list(all))]);
        let settings = settings(Fields(&answer));
        assert_eq!(settings.statistics.as_deref(), Some("fine"));
        assert_eq!((settings.statistics_interval_ms, settings.other.len()), (Some(5000), 2));
    }

    #[test]
    fn churn_has_seven_counts() {
        let churn = churn(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).unwrap();
        assert_eq!((churn.connections_opened, churn.queues_deleted), (1.0, 7.0));
        assert_eq!(super::churn(&[1.0]), None);
    }
}
