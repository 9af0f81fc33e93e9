//! Bindings that others made to what a run declared. AMQP has no request that lists bindings, so that
//! something else has to: the broker's management interface, or a person.

use std::{collections::HashSet, fmt};

use super::{
    owned_topology::{BoundObject, OwnedTopology, Subject},
    removed::KeptReason,
};

/// What is known of the bindings of others.
#[derive(Clone, Copy)]
pub enum ForeignBindings<'a> {
    /// Nothing: what could be bound stays.
    Unseen,
    /// A person says that there are none.
    Excluded,
    /// They are asked for.
    Asked(&'a dyn BindingSource),
}

/// Lists bindings.
pub trait BindingSource {
    /// All bindings of a virtual host; fails with the reason.
    fn bindings(&self, vhost: &str) -> Result<Vec<SeenBinding>, String>;
}

/// A binding on the broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenBinding {
    /// The exchange that it leads from; empty for the default exchange.
    pub source: String,
    /// The queue or exchange that it leads to.
    pub destination: String,
    /// It leads to a queue.
    pub to_queue: bool,
    /// Its key.
    pub routing_key: String,
}

impl fmt::Debug for ForeignBindings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unseen => "Unseen",
            Self::Excluded => "Excluded",
            Self::Asked(_) => "Asked",
        })
    }
}

/// Answers about the objects of one run.
#[derive(Debug)]
pub(super) enum SeenBindings {
    Unknown(String),
    NoneAssumed,
    All(Vec<SeenBinding>),
}

impl SeenBindings {
    pub(super) fn of(bindings: ForeignBindings<'_>, vhost: &str) -> Self {
        match bindings {
            ForeignBindings::Unseen => Self::Unknown("AMQP does not tell".to_owned()),
            ForeignBindings::Excluded => Self::NoneAssumed,
            ForeignBindings::Asked(source) => {
                source.bindings(vhost).map_or_else(Self::Unknown, Self::All)
            }
        }
    }

    /// Why an object of `run` has to stay; absent when all of its bindings are the run's. `marker` is
    /// the exchange that is bound to it: a list without that binding is of another broker.
    pub(super) fn reason_to_keep(
        &self,
        run: &OwnedTopology,
        subject: &Subject<'_>,
        marker: Option<&str>,
    ) -> Option<KeptReason> {
        let all = match self {
            Self::NoneAssumed => return None,
            Self::Unknown(reason) => return Some(KeptReason::BindingsUnseen(reason.clone())),
            Self::All(all) => all,
        };
        let mut here = all
            .iter()
            .filter(|it| it.destination == subject.name && it.to_queue == subject.is_queue);
        let has_marker = |marker: &str| here.clone().any(|it| it.source == marker);
        if marker.is_some_and(|marker| !has_marker(marker)) {
            let reason = "the list of bindings is of another broker".to_owned();
            return Some(KeptReason::BindingsUnseen(reason));
        }
        let own: HashSet<_> =
            run.bound.iter().filter(|bound| bound.is_of(subject)).map(BoundObject::way).collect();
        let foreign = here.find(|it| {
            let is_default = it.source.is_empty() && it.to_queue;
            let is_proof = marker == Some(it.source.as_str());
            !is_default
                && !is_proof
                && !own.contains(&(it.source.as_str(), it.routing_key.as_str()))
        });
        foreign.map(|it| KeptReason::Bound {
            exchange: it.source.clone(),
            key: it.routing_key.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(source: &str, routing_key: &str) -> SeenBinding {
        let (destination, routing_key) = ("q".to_owned(), routing_key.to_owned());
        SeenBinding { source: source.to_owned(), destination, to_queue: true, routing_key }
    }

    fn reason(seen: Vec<SeenBinding>) -> Option<KeptReason> {
        let own = BoundObject {
            name: "q".to_owned(),
            is_queue: true,
            exchange: "e".to_owned(),
            routing_key: "k".to_owned(),
        };
        let run = OwnedTopology { bound: vec![own], ..OwnedTopology::default() };
        let subject = Subject { name: "q", is_queue: true };
        SeenBindings::All(seen).reason_to_keep(&run, &subject, Some("marker"))
    }

    #[test]
    fn only_bindings_of_others_keep_a_queue() {
        assert_eq!(reason(vec![seen("", "q"), seen("marker", ""), seen("e", "k")]), None);
        let other_key = reason(vec![seen("marker", ""), seen("e", "other")]);
        assert!(matches!(other_key, Some(KeptReason::Bound { .. })), "{other_key:?}");
        let other_exchange = reason(vec![seen("marker", ""), seen("app", "k")]);
        assert!(matches!(other_exchange, Some(KeptReason::Bound { .. })), "{other_exchange:?}");
        let elsewhere = SeenBinding { destination: "r".to_owned(), ..seen("app", "k") };
        assert_eq!(reason(vec![seen("marker", ""), elsewhere]), None);
    }

    #[test]
    fn a_list_without_the_marker_is_of_another_broker() {
        let unseen = reason(vec![seen("", "q")]);
        assert!(matches!(unseen, Some(KeptReason::BindingsUnseen(_))), "{unseen:?}");
    }
}
