//! The completeness of the message counters that `top` shows.

use rabbitscope_erlang::Term;

/// The completeness of the in and out columns over the interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RateStatus {
    Known,
    /// The node writes its counters less often than once per interval, or never.
    Seldom,
    /// The cluster has other nodes, whose channels count there.
    OtherNodes,
    /// Some clients use a protocol without channels, but only channels count.
    OtherProtocols,
}

impl RateStatus {
    pub(super) fn from_term(word: &Term) -> Option<Self> {
        match word.as_atom()? {
            "known" => Some(Self::Known),
            "seldom" => Some(Self::Seldom),
            "other_nodes" => Some(Self::OtherNodes),
            "other_protocols" => Some(Self::OtherProtocols),
            _ => None,
        }
    }

    /// Returns the reason for empty in and out columns.
    pub(super) fn reason(self, statistics_ms: u64) -> Option<String> {
        let every = statistics_ms as f64 / 1000.0;
        let reason = match self {
            Self::Known => return None,
            Self::Seldom => format!(
                "the node writes its message counters every {every:.0} s, if statistics are on: use a longer interval"
            ),
            Self::OtherNodes => {
                "messages are counted on the node of the client's channel, and the \
                 cluster has other nodes"
                    .to_owned()
            }
            Self::OtherProtocols => {
                "messages are counted by channels, and there are clients without \
                 (MQTT or AMQP 1.0)"
                    .to_owned()
            }
        };
        Some(format!("; in and out are not known: {reason}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_names_what_is_not_counted() {
        let reason = |word: &str| RateStatus::from_term(&Term::atom(word)).unwrap().reason(5_000);
        assert_eq!(reason("known"), None);
        for (word, says) in [
            ("seldom", "every 5 s"),
            ("other_nodes", "the cluster has other nodes"),
            ("other_protocols", "clients without"),
        ] {
            assert!(reason(word).unwrap().contains(says), "{word}");
        }
        assert_eq!(RateStatus::from_term(&Term::atom("true")), None);
    }
}
