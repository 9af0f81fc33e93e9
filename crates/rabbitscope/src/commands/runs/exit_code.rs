//! The exit code of a finished run.

use rabbitscope_runs::record::{RunRecord, Verdict};

use crate::exit::Exit;

/// Returns the exit code of a run. In order of precedence: cut short or failed, not valid, not as expected.
pub(super) fn exit_code(record: &RunRecord) -> Exit {
    if matches!(record.verdict, Verdict::Aborted { .. } | Verdict::Failed { .. }) {
        Exit::Failed
    } else if !record.doubts.is_empty() {
        Exit::NotValid
    } else if matches!(record.verdict, Verdict::Stopped { .. })
        || record.expectations.iter().any(|result| !result.passed)
    {
        Exit::ExpectationFailed
    } else {
        Exit::Done
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::{Doubt, DoubtKind, ExpectationResult};

    use super::*;

    #[test]
    fn the_worst_decides() {
        fn check(is_aborted: bool, has_doubt: bool, passed: bool, expected: Exit) {
            let reason = "because".to_owned();
            let aborted = Verdict::Aborted { reason: reason.clone() };
            let verdict = if is_aborted { aborted } else { Verdict::Completed };
            let doubt = Doubt { kind: DoubtKind::ClientLimited, reason };
            let doubts = if has_doubt { vec![doubt] } else { Vec::new() };
            let result = ExpectationResult { text: String::new(), measured: None, passed };
            let expectations = vec![result];
            let record = RunRecord { verdict, doubts, expectations, ..RunRecord::default() };
            assert_eq!(exit_code(&record), expected);
        }
        check(false, false, true, Exit::Done);
        check(false, false, false, Exit::ExpectationFailed);
        check(false, true, false, Exit::NotValid);
        check(true, true, false, Exit::Failed);
        let verdict = Verdict::Failed { reason: "because".to_owned() };
        assert_eq!(exit_code(&RunRecord { verdict, ..RunRecord::default() }), Exit::Failed);
        let verdict = Verdict::Stopped { reason: "because".to_owned() };
        assert_eq!(
            exit_code(&RunRecord { verdict, ..RunRecord::default() }),
            Exit::ExpectationFailed
        );
    }
}
