//! A sentence about the reliability of a profile's stacks.

use rabbitscope_profiles::StackQuality;

use crate::share;

/// Describes the quality of a profile in one line, for the terminal, the page and the caption of a picture.
///
/// Shares of stacks refer to the samples on Erlang processes, lost ticks to all ticks, and nameless frames to all
/// recorded samples.
pub fn quality_sentence(quality: &StackQuality) -> String {
    if quality.recorded() == 0 {
        return match (quality.not_unwound, quality.lost) {
            (0, 0) => "nothing is known, as no sample says how complete its stack is".to_owned(),
            (0, lost) => format!("no sample was recorded; {} lost", grouped(lost)),
            (cut, lost) => format!(
                "{} without user-space callers, as stacks were not unwound; {} lost",
                samples(cut),
                grouped(lost),
            ),
        };
    }
    let lost = match quality.lost {
        0 => "0 lost".to_owned(),
        lost => {
            let all = quality.recorded().saturating_add(lost);
            format!("{} lost ({})", grouped(lost), percent(lost, all))
        }
    };
    format!(
        "{}; {} without a process; {lost}; {} have an unsymbolized frame",
        of_processes(quality),
        samples(quality.no_process),
        percent(quality.unsymbolised, quality.recorded()),
    )
}

fn of_processes(quality: &StackQuality) -> String {
    let all = quality.on_process();
    if all == 0 {
        return "no sample on an Erlang process".to_owned();
    }
    let no_function = match quality.no_function {
        0 => String::new(),
        some => format!(", {} show no function of the process", percent(some, all)),
    };
    format!(
        "{} of {} on Erlang processes reach the process's root, {} truncated at the recorder's \
         limit, {} broken{no_function}",
        percent(quality.complete, all),
        samples(all),
        percent(quality.truncated, all),
        percent(quality.broken, all),
    )
}

fn samples(count: u64) -> String {
    format!("{} sample{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Formats a share with one decimal. Never rounds a positive share to 0, nor an incomplete one to 100.
fn percent(part: u64, whole: u64) -> String {
    let tenths = (share(part, whole) * 1000.0).round();
    if part > 0 && tenths < 1.0 {
        "<0.1 %".to_owned()
    } else if part < whole && tenths > 999.0 {
        ">99.9 %".to_owned()
    } else if part == whole || part == 0 {
        format!("{:.0} %", tenths / 10.0)
    } else {
        format!("{:.1} %", tenths / 10.0)
    }
}

/// Formats `1234567` as `1,234,567`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(quality: StackQuality, expected: &str) {
        assert_eq!(quality_sentence(&quality), expected);
    }

    #[test]
    fn quality_is_one_sentence() {
        check(
            StackQuality {
                complete: 11_987,
                truncated: 321,
                broken: 37,
                no_process: 412,
                no_function: 0,
                unsymbolised: 26,
                native_cut: 0,
                not_unwound: 0,
                lost: 0,
            },
            "97.1 % of 12,345 samples on Erlang processes reach the process's root, 2.6 % \
             truncated at the recorder's limit, 0.3 % broken; 412 samples without a process; \
             0 lost; 0.2 % have an unsymbolized frame",
        );
        check(
            StackQuality { complete: 200, no_function: 1, ..StackQuality::default() },
            "100 % of 200 samples on Erlang processes reach the process's root, 0 % truncated at \
             the recorder's limit, 0 % broken, 0.5 % show no function of the process; 0 samples \
             without a process; 0 lost; 0 % have an unsymbolized frame",
        );
        check(
            StackQuality { no_process: 1, lost: 1, ..StackQuality::default() },
            "no sample on an Erlang process; 1 sample without a process; 1 lost (50.0 %); \
             0 % have an unsymbolized frame",
        );
    }

    #[test]
    fn what_cannot_be_said_is_not_said() {
        let nothing = StackQuality::default();
        check(nothing, "nothing is known, as no sample says how complete its stack is");
        check(
            StackQuality { not_unwound: 1077, lost: 2, ..nothing },
            "1,077 samples without user-space callers, as stacks were not unwound; 2 lost",
        );
        check(StackQuality { lost: 1234, ..nothing }, "no sample was recorded; 1,234 lost");
    }

    #[test]
    fn shares_are_never_rounded_away() {
        for (part, whole, expected) in [
            (0, 7, "0 %"),
            (1, 100_000, "<0.1 %"),
            (99_999, 100_000, ">99.9 %"),
            (7, 7, "100 %"),
            (1, 3, "33.3 %"),
        ] {
            assert_eq!(percent(part, whole), expected);
        }
    }
}
