//! Events of a recording with their counts, and the choice of those that become the profile.

use super::{
    super::{Capture, Event, UnknownValue, ValueName},
    EventName,
};

/// Limit of the other events that a note names.
const MAX_NAMED: usize = 5;

/// The totals of an event's samples.
#[derive(Clone, Debug)]
struct Counts {
    name: EventName,
    samples: u64,
    /// Smallest and largest period; absent if no sample has one.
    periods: Option<(u64, u64)>,
    lacks_periods: bool,
}

/// Events by number, in order of appearance.
#[derive(Debug, Default)]
pub(crate) struct PerfEvents {
    events: Vec<Counts>,
}

/// The events that become the profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Numbers of the events.
    pub(crate) events: Vec<usize>,
    /// Name of the first event, in perf's form.
    pub(crate) name: String,
    pub(crate) event: Event,
    pub(crate) value: Option<ValueName>,
    /// True if all samples state the occurrences that they stand for.
    pub(crate) has_periods: bool,
    /// True if a sample's weight is its count.
    pub(crate) counts_samples: bool,
    /// The common period of a clock's samples; 0 otherwise.
    pub(crate) period_nanos: u64,
    pub(crate) notes: Vec<String>,
}

impl Chosen {
    /// The facts about the recording that its events state.
    pub(crate) fn capture(&self, recorder: &str) -> Capture {
        Capture {
            recorder: recorder.to_owned(),
            clock: self.name.clone(),
            period_nanos: self.period_nanos,
            value: self.value.clone(),
            notes: self.notes.clone(),
            ..Capture::default()
        }
    }
}

impl PerfEvents {
    /// Adds an event. Its number is the count of earlier events.
    pub(crate) fn add(&mut self, name: EventName) {
        self.events.push(Counts { name, samples: 0, periods: None, lacks_periods: false });
    }

    /// Returns the number of the event with this name, and adds it if it is new.
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

    /// Renames an event. In some files its name follows its samples.
    pub(crate) fn rename(&mut self, event: usize, text: &str) {
        let known = &mut self.events[event].name;
        *known = EventName::new(text).with_spaces(known.spaces);
    }

    /// Counts a sample and returns its weight. `period` is the number of occurrences that it stands for, `weight` the
    /// weight of one.
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

    /// Returns the events that `asked` names. The default is the first event with samples, or a wider form of it, such
    /// as `cycles` beside `cycles:u`. `None` if no event has a sample.
    pub(crate) fn choose(&self, asked: Option<&str>) -> Result<Option<Chosen>, UnknownValue> {
        let groups = self.groups();
        let found = match asked {
            Some(asked) => Some(self.group_of(&groups, asked)?),
            None => self.usual(&groups),
        };
        Ok(found.map(|group| self.chosen(group, &groups)))
    }

    /// Groups events with samples into those that are one event: on several kinds of core, or split into user space and
    /// kernel. Events that would count a sample twice stay apart.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let sampled = (0..self.events.len()).filter(|&event| self.events[event].samples > 0);
        for event in sampled {
            let place = groups
                .iter()
                .position(|group| group.iter().all(|&other| self.is_core_of_same(other, event)));
            match place {
                Some(index) => groups[index].push(event),
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
                Some(index) => joined[index].extend(group),
                None => joined.push(group.clone()),
            }
        }
        joined
    }

    /// Returns whether two groups are the only forms of an event and do not overlap.
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
            by_name.or_else(|| groups.iter().find(|group| has(group, &|name| name.base == asked)));
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
            "The file has no Erlang processes and no information on stack quality.".to_owned(),
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

    /// Notes the samples that are left out.
    fn left_out(&self, taken: &[usize], groups: &[Vec<usize>]) -> Option<String> {
        let others = groups.iter().filter(|group| group[..] != *taken);
        let each = others.take(MAX_NAMED).map(|group| {
            let samples: u64 = group.iter().map(|&event| self.events[event].samples).sum();
            format!("{samples} of {}", self.name(group[0]).text)
        });
        let all: Vec<String> = each.collect();
        let note = format!(
            "Samples of other events were left out: {}. `flamegraph --value NAME` selects another event.",
            all.join(", ")
        );
        (!all.is_empty()).then_some(note)
    }
}

/// Returns the event for weights with these smallest and largest periods, and whether its weights are numbers of
/// samples.
fn event_of(name: &EventName, periods: Option<(u64, u64)>) -> (Event, bool) {
    let is_steady = periods.is_none_or(|(least, most)| least == most);
    match name.event {
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
