//! All events of a recording, with what was counted of each; the choice of those that become the profile.

use super::{
    super::{Event, UnknownValue, ValueName},
    EventName,
};

/// How many other events a note names.
const MAX_NAMED: usize = 5;

/// What the samples of an event say together.
#[derive(Clone, Debug)]
struct Counts {
    name: EventName,
    samples: u64,
    /// Smallest and largest period; absent when no sample states one.
    periods: Option<(u64, u64)>,
    lacks_periods: bool,
}

/// Events by number, as they come.
#[derive(Debug, Default)]
pub(crate) struct PerfEvents {
    events: Vec<Counts>,
}

/// The events that become the profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Their numbers.
    pub(crate) events: Vec<usize>,
    /// The name of the first, as perf has it.
    pub(crate) name: String,
    pub(crate) event: Event,
    pub(crate) value: Option<ValueName>,
    /// Whether all samples say how much they stand for.
    pub(crate) has_periods: bool,
    /// Whether the weight of a sample is its count.
    pub(crate) counts_samples: bool,
    /// The period of every sample, of a clock whose samples all have the same.
    pub(crate) period_nanos: u64,
    pub(crate) notes: Vec<String>,
}

impl PerfEvents {
    /// Adds an event; its number is that of events before it.
    pub(crate) fn add(&mut self, name: EventName) {
        self.events.push(Counts { name, samples: 0, periods: None, lacks_periods: false });
    }

    /// The number of the event of this name, which is added if it is new.
    pub(crate) fn number_of(&mut self, name: &str) -> usize {
        let known = self.events.iter().position(|event| event.name.text == name);
        known.unwrap_or_else(|| {
            self.add(EventName::new(name));
            self.events.len() - 1
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    pub(crate) fn name(&self, event: usize) -> &EventName {
        &self.events[event].name
    }

    /// Gives the event its name, which stands behind its samples in some files.
    pub(crate) fn rename(&mut self, event: usize, text: &str) {
        let known = &mut self.events[event].name;
        *known = EventName::new(text).with_spaces(known.spaces);
    }

    /// Counts a sample and returns its weight; a period is the number of occurrences that it stands for. `weight` is that of one.
    pub(crate) fn count(&mut self, event: usize, period: Option<u64>, weight: u64) -> u64 {
        let counts = &mut self.events[event];
        counts.samples += 1;
        match period {
            Some(period) => {
                let (least, most) = counts.periods.unwrap_or((period, period));
                counts.periods = Some((least.min(period), most.max(period)));
            }
            None => counts.lacks_periods = true,
        }
        weight.saturating_mul(period.unwrap_or(1))
    }

    /// The events that `asked` names. By default the first that has samples, or a wider form of it, as `cycles`
    /// beside `cycles:u`. `None` when no event has a sample.
    pub(crate) fn choose(&self, asked: Option<&str>) -> Result<Option<Chosen>, UnknownValue> {
        let groups = self.groups();
        let found = match asked {
            Some(asked) => Some(self.group_of(&groups, asked)?),
            None => self.usual(&groups),
        };
        Ok(found.map(|group| self.chosen(group, &groups)))
    }

    /// Events with samples that are one: the same event of several kinds of core, and its parts in user space and in
    /// the kernel. What would count a sample twice stays apart.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let sampled = (0..self.events.len()).filter(|&event| self.events[event].samples > 0);
        for event in sampled {
            let place = groups
                .iter()
                .position(|group| group.iter().all(|&other| self.is_core_of_same(other, event)));
            match place {
                Some(at) => groups[at].push(event),
                None => groups.push(vec![event]),
            }
        }
        self.join_spaces(&groups)
    }

    fn is_core_of_same(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.name(one), self.name(other));
        let units = one.unit.as_ref().zip(other.unit.as_ref());
        one.base == other.base && one.spaces == other.spaces && units.is_some_and(|(a, b)| a != b)
    }

    fn join_spaces(&self, groups: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let mut joined: Vec<Vec<usize>> = Vec::new();
        for group in groups {
            match joined.iter().position(|other| self.are_parts(other, group, groups)) {
                Some(at) => joined[at].extend(group),
                None => joined.push(group.clone()),
            }
        }
        joined
    }

    /// Whether two groups are all forms of an event and do not overlap.
    fn are_parts(&self, one: &[usize], other: &[usize], groups: &[Vec<usize>]) -> bool {
        let (one, other) = (self.name(one[0]), self.name(other[0]));
        let forms = groups.iter().filter(|group| self.name(group[0]).base == one.base).count();
        one.base == other.base && forms == 2 && one.spaces.is_apart_from(other.spaces)
    }

    fn usual<'a>(&self, groups: &'a [Vec<usize>]) -> Option<&'a Vec<usize>> {
        let first = groups.first()?;
        let name = self.name(first[0]);
        let is_wider = |group: &&Vec<usize>| {
            let other = self.name(group[0]);
            other.base == name.base
                && other.spaces != name.spaces
                && other.spaces.includes(name.spaces)
        };
        Some(groups.iter().find(is_wider).unwrap_or(first))
    }

    fn group_of<'a>(
        &self,
        groups: &'a [Vec<usize>],
        asked: &str,
    ) -> Result<&'a Vec<usize>, UnknownValue> {
        let has = |group: &Vec<usize>, is_meant: &dyn Fn(&EventName) -> bool| {
            group.iter().any(|&event| is_meant(self.name(event)))
        };
        let by_name = groups.iter().find(|group| has(group, &|name| name.text == asked));
        let found =
            by_name.or_else(|| groups.iter().find(|group| has(group, &|it| it.base == asked)));
        found.ok_or_else(|| UnknownValue {
            asked: asked.to_owned(),
            known: groups.iter().map(|group| self.name(group[0]).text.clone()).collect(),
        })
    }

    fn chosen(&self, group: &[usize], groups: &[Vec<usize>]) -> Chosen {
        let name = self.name(group[0]);
        let members = || group.iter().map(|&event| &self.events[event]);
        let has_periods = members().all(|event| !event.lacks_periods);
        let extremes = members().filter_map(|event| event.periods);
        let periods = extremes.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).filter(|_| has_periods);
        let (event, counts_samples) = event_of(name, periods);
        let is_clock = event == Event::Cpu && name.is_clock();
        let mut notes = vec![
            "The file says neither which Erlang process ran nor how good its stacks are."
                .to_owned(),
        ];
        notes.extend(self.left_out(group, groups));
        Chosen {
            events: group.to_vec(),
            name: name.text.clone(),
            event,
            value: (event == Event::Imported).then(|| value_of(name, has_periods)),
            has_periods,
            counts_samples,
            period_nanos: periods.filter(|_| is_clock).map_or(0, |(period, _)| period),
            notes,
        }
    }

    /// Says what was left out.
    fn left_out(&self, taken: &[usize], groups: &[Vec<usize>]) -> Option<String> {
        let others = groups.iter().filter(|group| group[..] != *taken);
        let each = others.take(MAX_NAMED).map(|group| {
            let samples: u64 = group.iter().map(|&event| self.events[event].samples).sum();
            format!("{samples} of {}", self.name(group[0]).text)
        });
        let all: Vec<String> = each.collect();
        let note = format!(
            "Samples of other events were left out: {}. `flamegraph --value NAME` takes another.",
            all.join(", ")
        );
        (!all.is_empty()).then_some(note)
    }
}

/// The event that weights of these periods, smallest and largest, are of; and whether they are numbers of samples.
fn event_of(name: &EventName, periods: Option<(u64, u64)>) -> (Event, bool) {
    let is_steady = periods.is_none_or(|(least, most)| least == most);
    match name.event() {
        Some(Event::Cpu) if is_steady => (Event::Cpu, true),
        Some(event @ (Event::PageFaults | Event::ContextSwitches)) if periods == Some((1, 1)) => {
            (event, true)
        }
        Some(event @ (Event::Mmap | Event::Munmap)) => (event, false),
        _ => (Event::Imported, periods.is_none()),
    }
}

fn value_of(name: &EventName, has_periods: bool) -> ValueName {
    if has_periods { name.value() } else { ValueName::new(&name.base, "samples") }
}
