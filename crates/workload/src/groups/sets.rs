//! Sets of queues that differ by name only.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    names::{self, Names},
    uses::Uses,
};
use crate::topology::{Arguments, Binding, Destination, Queue};

/// Queues with the same settings, bindings and use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QueueSet {
    /// Name by which groups refer to the set.
    pub(crate) name: String,
    pub(crate) names: Names,
    pub(crate) queue: Queue,
    /// Exchange, key with a placeholder, arguments.
    pub(crate) bindings: Vec<(String, String, Arguments)>,
    /// Least, mean and most messages that waited in a queue; none if they are unknown.
    pub(crate) ready: Option<[u64; 3]>,
}

/// The queues of a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sets {
    pub(crate) sets: Vec<QueueSet>,
    by_queue: BTreeMap<String, usize>,
}

impl Sets {
    /// Creates the sets of all used queues. `published` are those that get messages by the default exchange.
    pub(super) fn new(uses: &Uses, published: &BTreeSet<&str>) -> Self {
        let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        let mut readers: BTreeMap<&str, usize> = BTreeMap::new();
        for queue in &uses.read {
            *readers.entry(queue).or_default() += 1;
        }
        let bound = Bound::new(uses);
        for name in &uses.queues {
            let Some(queue) = uses.objects.queues.get(name) else { continue };
            let readers = readers.get(name.as_str()).copied().unwrap_or_default();
            let bindings: Vec<_> = bound
                .of(name)
                .iter()
                .map(|binding| (&binding.source, names::pattern(&binding.routing_key)))
                .collect();
            let is_published = published.contains(name.as_str());
            let pattern = if queue.server_named { String::new() } else { names::pattern(name) };
            let use_of = (pattern, queue, bindings, readers, is_published);
            alike.entry(format!("{use_of:?}")).or_default().push(name);
        }
        let mut sets = Self::default();
        for names in alike.into_values() {
            sets.add((uses, &bound), &names);
        }
        sets
    }

    /// Returns the set of a queue.
    pub(super) fn of(&self, queue: &str) -> Option<usize> {
        self.by_queue.get(queue).copied()
    }

    /// Adds queues as one set if their bindings allow it, else each by itself.
    fn add(&mut self, (uses, bound): (&Uses, &Bound<'_>), names: &[&str]) {
        let whole = Names::new(names.iter().map(|name| (*name).to_owned()).collect());
        match common(bound, names, &whole).filter(|bindings| self.has_name(&whole, bindings)) {
            Some(bindings) => self.push(uses, names, whole, bindings),
            None => names.iter().for_each(|name| self.add((uses, bound), &[name])),
        }
    }

    /// Returns whether a set can have a name of its own. A second one with the same pattern becomes a list, unless its
    /// bindings need the numbers.
    fn has_name(&self, whole: &Names, bindings: &[(String, String, Arguments)]) -> bool {
        let Names::Numbered { pattern, .. } = whole else { return true };
        let is_taken = self.sets.iter().any(|set| set.name == *pattern);
        !is_taken || bindings.iter().all(|(_, key, _)| !key.contains('{'))
    }

    fn push(
        &mut self,
        uses: &Uses,
        names: &[&str],
        whole: Names,
        bindings: Vec<(String, String, Arguments)>,
    ) {
        let Some(queue) = names.first().and_then(|name| uses.objects.queues.get(*name)) else {
            return;
        };
        let is_taken = |name: &str| self.sets.iter().any(|set| set.name == name);
        let whole = match whole {
            Names::Numbered { pattern, .. } if is_taken(&pattern) => {
                Names::Listed(names.iter().map(|name| (*name).to_owned()).collect())
            }
            whole => whole,
        };
        let number = self.sets.len() + 1;
        let name = match &whole {
            _ if queue.server_named => format!("server-named-{number}"),
            Names::One(name) => name.clone(),
            Names::Numbered { pattern, .. } => pattern.clone(),
            Names::Listed(_) => format!("queues-{number}"),
        };
        for name in names {
            self.by_queue.insert((*name).to_owned(), self.sets.len());
        }
        let ready = ready(&uses.objects.ready, names);
        self.sets.push(QueueSet { name, names: whole, queue: queue.clone(), bindings, ready });
    }
}

/// Returns the least, the mean and the most messages that waited in these queues; none if some are unknown.
fn ready(known: &BTreeMap<String, u64>, names: &[&str]) -> Option<[u64; 3]> {
    let ready: Option<Vec<u64>> = names.iter().map(|name| known.get(*name).copied()).collect();
    let ready = ready?;
    let (least, most) = (ready.iter().min()?, ready.iter().max()?);
    let sum = ready.iter().fold(0, |sum: u64, more| sum.saturating_add(*more));
    Some([*least, sum / ready.len() as u64, *most])
}

/// Returns the bindings that are the same for all, with placeholders; none if there are others.
fn common(
    bound: &Bound<'_>,
    names: &[&str],
    whole: &Names,
) -> Option<Vec<(String, String, Arguments)>> {
    let all: Vec<&[&Binding]> = names.iter().map(|name| bound.of(name)).collect();
    let first = all.first()?;
    let mut common = Vec::new();
    for (place, binding) in first.iter().enumerate() {
        let row: Option<Vec<&Binding>> = all.iter().map(|of| of.get(place).copied()).collect();
        let row = row?;
        if row.iter().any(|of| of.source != binding.source || of.arguments != binding.arguments) {
            return None;
        }
        let keys: Vec<&str> = row.iter().map(|of| of.routing_key.as_str()).collect();
        let key = common_key(names, whole, &keys)?;
        common.push((binding.source.clone(), key, binding.arguments.clone()));
    }
    Some(common)
}

/// Bindings of queues to exchanges that matter, by queue.
struct Bound<'a>(BTreeMap<&'a str, Vec<&'a Binding>>);

impl<'a> Bound<'a> {
    fn new(uses: &'a Uses) -> Self {
        let mut bound: BTreeMap<&str, Vec<&Binding>> = BTreeMap::new();
        let is_used = |binding: &&Binding| {
            binding.kind == Destination::Queue && uses.exchanges.contains(&binding.source)
        };
        for binding in uses.objects.bindings.iter().filter(is_used) {
            bound.entry(&binding.destination).or_default().push(binding);
        }
        Self(bound)
    }

    fn of(&self, queue: &str) -> &[&'a Binding] {
        self.0.get(queue).map_or(&[], Vec::as_slice)
    }
}

/// Returns the key of a binding of all queues: one key, their numbers in a pattern, or their names.
fn common_key(names: &[&str], whole: &Names, keys: &[&str]) -> Option<String> {
    let first = *keys.first()?;
    if keys.iter().all(|key| *key == first) {
        return Some(first.to_owned());
    }
    if keys == names && matches!(whole, Names::Listed(_)) {
        return Some("{}".to_owned());
    }
    let Names::Numbered { from, to, .. } = whole else { return None };
    match Names::new(keys.iter().map(|key| (*key).to_owned()).collect()) {
        Names::Numbered { pattern, from: first, to: last } if (first, last) == (*from, *to) => {
            // Sorted by name, both lists must be in the same order.
            let is_same_order = |pair: (&&str, &&str)| number_of(pair.0) == number_of(pair.1);
            names.iter().zip(keys).all(is_same_order).then_some(pattern)
        }
        _ => None,
    }
}

/// Returns the last number in a name.
fn number_of(name: &str) -> Option<u64> {
    let digits = name.rfind(|c: char| c.is_ascii_digit())?;
    let start = name[..digits].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    name[start..=digits].parse().ok()
}
