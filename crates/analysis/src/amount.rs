//! The check that a profile has enough samples for its shares.

use rabbitscope_profiles::Profile;

/// Number of samples from which a share's standard error is at most 5 points. √(p(1−p)/n) is largest at p = ½, where it
/// is 1 / (2 √n).
const ENOUGH: u64 = 100;

/// Number of occurrences of the profiled event.
pub fn occurrences(profile: &Profile) -> u64 {
    profile.samples.iter().map(|sample| sample.count).sum()
}

/// Returns a warning if the profile has no or too few occurrences for its shares.
pub fn caution(profile: &Profile) -> Option<String> {
    let noun = profile.event.occurrences();
    match occurrences(profile) {
        0 if profile.quality.lost > 0 => Some(format!(
            "No {noun} were recorded; {} were lost. A lower --freq, or fewer events at once, loses less.",
            profile.quality.lost
        )),
        0 => Some(format!("No {noun} were recorded, so there are no shares to show.")),
        count @ 1..ENOUGH => Some(format!(
            "Too few {noun} to read shares from: of {count}, a share is off by up to {:.0} points (one standard \
             error). Record for longer.",
            50.0 / (count as f64).sqrt()
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::{Event, read_folded};

    use super::*;

    #[test]
    fn few_samples_have_a_word() {
        let caution_of = |folded: &str| caution(&read_folded(folded.as_bytes()).unwrap());
        assert_eq!(caution_of("a 99\nb 1"), None);
        let few = caution_of("a 1\nb 3").unwrap();
        assert!(few.contains("of 4,") && few.contains("25 points"), "{few}");
        let none = caution_of("").unwrap();
        assert_eq!(none, "No samples were recorded, so there are no shares to show.");
    }

    #[test]
    fn a_few_long_waits_are_few() {
        let mut profile = read_folded("a 3000000000".as_bytes()).unwrap();
        profile.event = Event::OffCpu;
        profile.samples[0].count = 4;
        assert!(caution(&profile).unwrap().starts_with("Too few waits"));
    }

    #[test]
    fn losses_are_said_when_nothing_is_there() {
        let mut profile = read_folded("".as_bytes()).unwrap();
        profile.quality.lost = 12;
        assert!(caution(&profile).unwrap().contains("12 were lost"));
    }
}
