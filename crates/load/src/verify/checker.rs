//! Judges what all load threads saw.

use std::collections::HashMap;

use rabbitscope_runs::{record::Verification, scenario::Scenario};

use super::{
    Observation, Places, Reader,
    book::{Book, Delivery, Outlet},
    places::reads_all,
    routes::{Course, courses},
    verdict::{Reckoning, verdict},
    window::{ROW, unwrap},
};
use crate::stamp::Numbering;

/// Bits for all windows together, and messages in the window of a publisher at least and at most.
const BUDGET_BITS: u64 = (64 * 8) << 20;
const WINDOW_MIN: u64 = 1 << 10;
const WINDOW_MAX: u64 = 1 << 20;

/// Publishers know that many bits of their numbers.
const PUBLISHER_BITS: u32 = 32;

/// Knows what became of every message.
pub(crate) struct Checker {
    numbering: Numbering,
    places: Places,
    courses: Vec<Course>,
    /// By publisher; absent until something is seen of it.
    books: Vec<Option<Book>>,
    window: u64,
    lines: Lines,
    /// By number of the consumer: it reads a stream from the beginning.
    reads_all: Vec<bool>,
    found: Found,
    told: Found,
}

/// What was wrong with deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) duplicates: u64,
    pub(super) of_republished: u64,
    pub(crate) out_of_order: u64,
    pub(super) out_of_order_redelivered: u64,
    pub(super) read_again: u64,
    pub(super) unchecked: u64,
}

impl Checker {
    pub(crate) fn new(scenario: &Scenario, numbering: Numbering) -> Self {
        let places = Places::of(scenario);
        let courses = courses(scenario, &places);
        let consumers = scenario.consumers.iter().flat_map(|group| {
            let reads_all = reads_all(group);
            (0..group.count).map(move |_| reads_all)
        });
        Self {
            numbering,
            books: courses.iter().map(|_| None).collect(),
            window: window(&courses, &places, numbering),
            lines: Lines::default(),
            reads_all: consumers.collect(),
            found: Found::default(),
            told: Found::default(),
            places,
            courses,
        }
    }

    pub(crate) fn observe(&mut self, batch: &[Observation]) {
        for observation in batch {
            match *observation {
                Observation::Accepted { publisher, first, count } => {
                    self.each(publisher, first, count, Book::accept);
                }
                Observation::Republished { publisher, first, count } => {
                    self.each(publisher, first, count, Book::republish);
                }
                Observation::Unaccounted { publisher, before } => {
                    self.each(publisher, before, 1, Book::doubt_before);
                }
                Observation::Returned { number } => {
                    let (publisher, low) = self.numbering.split(number);
                    let bits = self.numbering.sequence_bits();
                    if let Some(book) = self.book(publisher) {
                        book.take_back(unwrap(low, bits, book.end()));
                    }
                }
                Observation::Delivered { reader, first, count, redelivered } => {
                    for number in first..first.saturating_add(count) {
                        self.deliver(reader, number, redelivered);
                    }
                }
                Observation::Resubscribed { reader } => self.resubscribe(reader),
                Observation::Traced(_) => {}
            }
        }
    }

    fn each(&mut self, publisher: u32, first: u32, count: u32, act: fn(&mut Book, u64)) {
        let Some(book) = self.book(publisher) else { return };
        let first = unwrap(first, PUBLISHER_BITS, book.end());
        (first..first + u64::from(count)).for_each(|sequence| act(book, sequence));
    }

    /// Absent for those whose messages cannot be told from one another.
    #[inline]
    fn book(&mut self, publisher: u32) -> Option<&mut Book> {
        let at = publisher as usize;
        if *self.courses.get(at)? == Course::Unmarked {
            return None;
        }
        let rows = usize::try_from(self.window / ROW).unwrap_or(1);
        Some(self.books[at].get_or_insert_with(|| Book::new(rows)))
    }

    #[inline]
    fn deliver(&mut self, reader: Reader, number: u32, redelivered: bool) {
        let (publisher, low) = self.numbering.split(number);
        let outlet = self.outlet(reader);
        let bits = self.numbering.sequence_bits();
        let Some(book) = self.book(publisher) else { return };
        let sequence = unwrap(low, bits, book.end());
        let delivery = book.deliver(outlet, sequence, redelivered);
        let found = &mut self.found;
        match delivery {
            Delivery::Fine => {}
            Delivery::Duplicate { republished } => {
                found.duplicates += 1;
                found.of_republished += u64::from(republished);
            }
            Delivery::ReadAgain => found.read_again += 1,
            Delivery::Unchecked => found.unchecked += 1,
        }
        if self.lines.is_overtaken(reader, publisher, sequence) {
            found.out_of_order += 1;
            found.out_of_order_redelivered += u64::from(redelivered);
        }
    }

    fn outlet(&self, reader: Reader) -> Outlet {
        let Reader { place, consumer } = reader;
        if !self.places.kind(place).is_stream {
            return Outlet { place, consumer: None, joins_late: false };
        }
        let reads_all = self.reads_all.get(consumer as usize).copied().unwrap_or(false);
        Outlet { place, consumer: Some(consumer), joins_late: !reads_all }
    }

    /// Order is that of a subscription: the next one begins anew.
    fn resubscribe(&mut self, reader: Reader) {
        self.lines.forget(reader);
        // What a queue has given to one consumer it owes nobody else.
        if !self.places.kind(reader.place).is_stream {
            return;
        }
        for book in self.books.iter_mut().flatten() {
            book.resubscribe(reader.place, reader.consumer);
        }
    }

    /// What was found since this was asked last.
    pub(crate) fn news(&mut self) -> Found {
        let before = std::mem::replace(&mut self.told, self.found);
        Found {
            duplicates: self.found.duplicates - before.duplicates,
            out_of_order: self.found.out_of_order - before.out_of_order,
            ..Found::default()
        }
    }

    /// Names of the queues, by number.
    pub(crate) fn places(&self) -> &[String] {
        self.places.names()
    }

    /// `depths`: messages in each queue when all connections were closed; absent where nobody knows.
    pub(crate) fn finish(&self, depths: &[Option<u64>]) -> Verification {
        let mut reckoning = Reckoning::new(&self.places, depths);
        for (course, book) in self.courses.iter().zip(&self.books) {
            if let Some(book) = book {
                reckoning.add(course, book);
            }
        }
        verdict(&reckoning, self.found, self.window)
    }
}

/// As large as the budget allows, and small enough to tell numbers that wrap around.
fn window(courses: &[Course], places: &Places, numbering: Numbering) -> u64 {
    let outlets = |course: &Course| match course {
        Course::Unmarked => 0,
        Course::Somewhere => places.names().len().max(1) as u64,
        Course::Fixed(places) => places.len() as u64,
    };
    let bits: u64 = courses.iter().map(|course| 2 + 2 * outlets(course)).sum();
    let fair = (BUDGET_BITS / bits.max(1)).clamp(WINDOW_MIN, WINDOW_MAX);
    let most = 1 << (numbering.sequence_bits() - 1);
    let window = fair.min(most);
    1 << window.ilog2()
}

/// The highest number of each publisher that each consumer has seen.
#[derive(Default)]
struct Lines {
    index: HashMap<(Reader, u32), usize>,
    /// One more than the highest.
    ends: Vec<u64>,
    /// Found last: messages of a publisher come in a row.
    last: Option<((Reader, u32), usize)>,
}

impl Lines {
    #[inline]
    fn is_overtaken(&mut self, reader: Reader, publisher: u32, sequence: u64) -> bool {
        let key = (reader, publisher);
        let at = match self.last {
            Some((last, at)) if last == key => at,
            _ => self.find(key),
        };
        let end = &mut self.ends[at];
        let is_overtaken = sequence + 1 < *end;
        *end = (*end).max(sequence + 1);
        is_overtaken
    }

    fn find(&mut self, key: (Reader, u32)) -> usize {
        let at = *self.index.entry(key).or_insert_with(|| {
            self.ends.push(0);
            self.ends.len() - 1
        });
        self.last = Some((key, at));
        at
    }

    fn forget(&mut self, reader: Reader) {
        for ((of, _), at) in &self.index {
            if *of == reader {
                self.ends[*at] = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests;
