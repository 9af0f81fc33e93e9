//! Bindings that others made to a run's queues and exchanges. AMQP has no request that lists bindings. The list has to
//! come from the broker's management interface or from a person.

use std::{collections::HashSet, fmt};

use super::{
    owned_topology::{BoundObject, OwnedTopology, Subject},
    removed::KeptReason,
};

/// Knowledge about the bindings of others.
#[derive(Clone, Copy)]
pub enum ForeignBindings<'a> {
    /// Unknown: every object that could have such bindings stays.
    Unseen,
    /// A person confirms that there are none.
    Excluded,
    /// A source lists the bindings.
    Asked(&'a dyn BindingSource),
}

/// A source that lists bindings.
pub trait BindingSource {
    /// Returns all bindings of a virtual host, or the reason of the failure.
    fn bindings(&self, vhost: &str) -> Result<Vec<SeenBinding>, String>;
}

/// A binding on the broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenBinding {
    /// The source exchange; empty for the default exchange.
    pub source: String,
    /// The destination queue or exchange.
    pub destination: String,
    /// The destination is a queue.
    pub to_queue: bool,
    /// The routing key.
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

/// Bindings of the objects of one run.
#[derive(Debug)]
pub(super) enum SeenBindings {
    Unknown(String),
    NoneAssumed,
    All(Vec<SeenBinding>),
}

impl SeenBindings {
    pub(super) fn read(bindings: ForeignBindings<'_>, vhost: &str) -> Self {
        match bindings {
            ForeignBindings::Unseen => Self::Unknown("AMQP does not list bindings".to_owned()),
            ForeignBindings::Excluded => Self::NoneAssumed,
            ForeignBindings::Asked(source) => {
                source.bindings(vhost).map_or_else(Self::Unknown, Self::All)
            }
        }
    }

    /// Returns the reason why an object of `run` has to stay; absent if all of its bindings are the run's. `marker` is
    /// the exchange that is bound to the object: a list without that binding comes from another broker.
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
        let mut here = all.iter().filter(|binding| {
            binding.destination == subject.name && binding.to_queue == subject.is_queue
        });
        let has_marker = |marker: &str| here.clone().any(|binding| binding.source == marker);
        if marker.is_some_and(|marker| !has_marker(marker)) {
            let reason = "the list of bindings is of another broker".to_owned();
            return Some(KeptReason::BindingsUnseen(reason));
        }
        let own: HashSet<_> =
            run.bound.iter().filter(|bound| bound.is_of(subject)).map(BoundObject::way).collect();
        let foreign = here.find(|binding| {
            let is_default = binding.source.is_empty() && binding.to_queue;
            let is_proof = marker == Some(binding.source.as_str());
            !is_default
                && !is_proof
                && !own.contains(&(binding.source.as_str(), binding.routing_key.as_str()))
        });
        foreign.map(|binding| KeptReason::Bound {
            exchange: binding.source.clone(),
            key: binding.routing_key.clone(),
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
