//! `[expect]` as written: bounds such as `"< 20ms"` under the names of their metrics.

use serde::{Deserialize, Serialize};

use crate::{record::Metric, scenario::model};

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Expect {
    pub(in crate::scenario) steady: Option<bool>,
    lost: Option<String>,
    duplicates: Option<String>,
    out_of_order: Option<String>,
    redelivered: Option<String>,
    nacked: Option<String>,
    returned: Option<String>,
    unconfirmed: Option<String>,
    late: Option<String>,
    late_by_client: Option<String>,
    dropped: Option<String>,
    requests_unanswered: Option<String>,
    stray_replies: Option<String>,
    churn_failed: Option<String>,
    without_service: Option<String>,
    blocked: Option<String>,
    published: Option<Rate>,
    confirmed: Option<Rate>,
    consumed: Option<Rate>,
    replies: Option<Rate>,
    confirm: Option<Quantiles>,
    confirm_intended: Option<Quantiles>,
    end_to_end: Option<Quantiles>,
    end_to_end_intended: Option<Quantiles>,
    delivered: Option<Quantiles>,
    delivered_intended: Option<Quantiles>,
    processed: Option<Quantiles>,
    processed_intended: Option<Quantiles>,
    settled: Option<Quantiles>,
    settled_intended: Option<Quantiles>,
    round_trip: Option<Quantiles>,
    round_trip_intended: Option<Quantiles>,
    client_delay: Option<Quantiles>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Rate {
    rate: Option<String>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Quantiles {
    p50: Option<String>,
    p95: Option<String>,
    p99: Option<String>,
    p999: Option<String>,
    p9999: Option<String>,
    max: Option<String>,
    mean: Option<String>,
}

impl Expect {
    /// Returns every written bound with its metric, in the order of the keys above.
    pub(in crate::scenario) fn bounds(mut self) -> Vec<(Metric, String)> {
        let metrics = Metric::all();
        metrics.filter_map(|metric| Some((metric, self.place(metric)?.take()?))).collect()
    }

    /// Returns the place of a metric's bound.
    fn place(&mut self, metric: Metric) -> Option<&mut Option<String>> {
        Some(match metric {
            Metric::Latency(latency, quantile) => {
                let latency = match latency.name() {
                    "confirm" => &mut self.confirm,
                    "confirm-intended" => &mut self.confirm_intended,
                    "end-to-end" => &mut self.end_to_end,
                    "end-to-end-intended" => &mut self.end_to_end_intended,
                    "delivered" => &mut self.delivered,
                    "delivered-intended" => &mut self.delivered_intended,
                    "processed" => &mut self.processed,
                    "processed-intended" => &mut self.processed_intended,
                    "settled" => &mut self.settled,
                    "settled-intended" => &mut self.settled_intended,
                    "round-trip" => &mut self.round_trip,
                    "round-trip-intended" => &mut self.round_trip_intended,
                    "client-delay" => &mut self.client_delay,
                    _ => return None,
                };
                latency.get_or_insert_default().place(quantile.name())?
            }
            Metric::Rate(messages) => {
                let messages = match messages.name() {
                    "published" => &mut self.published,
                    "confirmed" => &mut self.confirmed,
                    "consumed" => &mut self.consumed,
                    "replies" => &mut self.replies,
                    _ => return None,
                };
                &mut messages.get_or_insert_default().rate
            }
            Metric::Count(count) => match count.name() {
                "lost" => &mut self.lost,
                "duplicates" => &mut self.duplicates,
                "out-of-order" => &mut self.out_of_order,
                "redelivered" => &mut self.redelivered,
                "nacked" => &mut self.nacked,
                "returned" => &mut self.returned,
                "unconfirmed" => &mut self.unconfirmed,
                "late" => &mut self.late,
                "late-by-client" => &mut self.late_by_client,
                "dropped" => &mut self.dropped,
                "requests-unanswered" => &mut self.requests_unanswered,
                "stray-replies" => &mut self.stray_replies,
                "churn-failed" => &mut self.churn_failed,
                _ => return None,
            },
            Metric::Time(time) => match time.name() {
                "without-service" => &mut self.without_service,
                "blocked" => &mut self.blocked,
                _ => return None,
            },
        })
    }
}

impl Quantiles {
    fn place(&mut self, quantile: &str) -> Option<&mut Option<String>> {
        Some(match quantile {
            "p50" => &mut self.p50,
            "p95" => &mut self.p95,
            "p99" => &mut self.p99,
            "p999" => &mut self.p999,
            "p9999" => &mut self.p9999,
            "max" => &mut self.max,
            "mean" => &mut self.mean,
            _ => return None,
        })
    }
}

impl From<&model::Expect> for Option<Expect> {
    fn from(expect: &model::Expect) -> Self {
        let mut wire = Expect { steady: expect.steady.then_some(true), ..Expect::default() };
        for expectation in &expect.that {
            if let Some(place) = wire.place(expectation.metric) {
                *place = Some(expectation.bound());
            }
        }
        (*expect != model::Expect::default()).then_some(wire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_place() {
        for metric in Metric::all() {
            assert!(Expect::default().place(metric).is_some(), "{metric}");
        }
    }
}
