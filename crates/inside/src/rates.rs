//! Whether the messages that `top` shows are all there were.

use rabbitscope_erlang::Term;

/// Whether what is shown as in and out is all there was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rates {
    Known,
    /// It is counted once in a longer time, or not at all.
    Seldom,
    /// Channels on other nodes of the cluster count there.
    OtherNodes,
    /// There are clients whose protocol has no channels, which count.
    OtherProtocols,
}

impl Rates {
    pub(super) fn of(word: &Term) -> Option<Self> {
        match word.as_atom()? {
            "known" => Some(Self::Known),
            "seldom" => Some(Self::Seldom),
            "other_nodes" => Some(Self::OtherNodes),
            "other_protocols" => Some(Self::OtherProtocols),
            _ => None,
        }
    }

    /// Why in and out are not shown.
    pub(super) fn reason(self, statistics_ms: u64) -> Option<String> {
        let every = statistics_ms as f64 / 1000.0;
        let reason = match self {
            Self::Known => return None,
            Self::Seldom => format!(
                "the node counts messages only with statistics on, and once in {every:.0} s, so that the \
                 interval has to be longer"
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
    fn why_in_and_out_are_not_shown() {
        let reason = |word: &str| Rates::of(&Term::atom(word)).unwrap().reason(5_000);
        assert_eq!(reason("known"), None);
        for (word, says) in [
            ("seldom", "once in 5 s"),
            ("other_nodes", "the cluster has other nodes"),
            ("other_protocols", "clients without"),
        ] {
            assert!(reason(word).unwrap().contains(says), "{word}");
        }
        assert_eq!(Rates::of(&Term::atom("true")), None);
    }
}
