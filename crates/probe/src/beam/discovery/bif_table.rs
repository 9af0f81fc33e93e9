//! Finds the VM's table of BIFs: in the executable's data, the only long series of records that each begin with two
//! atoms, a number of arguments and a C function.

use super::{
    evidence::Evidence,
    exports::Exports,
    static_data::{DataWord, StaticData},
};
use crate::beam::function_names::is_atom;

const PART: &str = "table of BIFs";
const NAME: &str = "bif_table";

/// Words examined at the beginning of a record.
const RECORD_WORDS: u64 = 4;

/// Limit for the distance between two records, which is five words until OTP 29.
const MAX_STRIDE: u64 = 16 * 8;

/// Minimum length of the series. A VM has more than 500 BIFs, and no other series of that form is as long.
const MIN_RECORDS: u64 = 100;

/// The largest number of arguments of a function.
const MAX_ARITY: u64 = 255;

/// Address and length in bytes. `None` if there is no such series: BIFs that are called in one of two ways then
/// have no name.
pub(super) fn find(exports: &Exports, data: &StaticData) -> Option<((u64, u64), Evidence)> {
    if let Some(span) = exports.span(NAME) {
        let found = format!("{}, exported as {NAME}", data.place(span.0));
        return Some((span, Evidence::new(PART, found)));
    }
    let series = longest_series(records(data))?;
    let span = (series.first, series.last + 8 * RECORD_WORDS - series.first);
    let found = format!(
        "{}, {} records of {} bytes, the longest series of that form",
        data.place(span.0),
        series.count,
        series.stride
    );
    Some((span, Evidence::new(PART, found)))
}

#[derive(Clone, Copy, Debug)]
struct Series {
    first: u64,
    last: u64,
    stride: u64,
    count: u64,
}

/// Addresses at which a record may begin.
fn records(data: &StaticData) -> Vec<u64> {
    let words: Vec<DataWord> = data.words().collect();
    let is_record = |four: &&[DataWord]| {
        is_atom(four[0].value)
            && is_atom(four[1].value)
            && four[2].value & 0xffff_ffff <= MAX_ARITY
            && data.is_in_executable(four[3].value)
            && four[3].at == four[0].at + 24
    };
    words.windows(4).filter(is_record).map(|four| four[0].at).collect()
}

fn longest_series(records: Vec<u64>) -> Option<Series> {
    let mut longest: Option<Series> = None;
    let mut current: Option<Series> = None;
    for address in records {
        let alone = Series { first: address, last: address, stride: 0, count: 1 };
        let extended = current.map_or(alone, |series| {
            let distance = address - series.last;
            let fits = distance <= MAX_STRIDE && (series.count == 1 || distance == series.stride);
            let longer =
                Series { last: address, stride: distance, count: series.count + 1, ..series };
            if fits { longer } else { alone }
        });
        if longest.is_none_or(|longest| extended.count > longest.count) {
            longest = Some(extended);
        }
        current = Some(extended);
    }
    longest.filter(|series| series.count >= MIN_RECORDS)
}

#[cfg(test)]
mod tests {
    use super::longest_series;

    #[test]
    fn the_longest_series_of_equal_distances() {
        let mut records: Vec<u64> = (0..50).map(|index| 40 * index).collect();
        records.extend((0..200).map(|index| 10_000 + 40 * index));
        records.push(20_000);
        let series = longest_series(records.clone()).unwrap();
        assert_eq!((series.first, series.stride, series.count), (10_000, 40, 200));
        records.truncate(120);
        assert!(longest_series(records).is_none(), "too short to be the table");
    }
}
