//! Lack of CPU time on the node or its clients. Pauses for lack of CPU time look like waits of a peer.

use crate::case::{Case, Host};

/// Share of the control group's periods. A pause lasts for most of a period, which is longer than a delayed
/// acknowledgement takes.
const THROTTLED: f64 = 0.05;
/// Waiting for a CPU against running, from which pauses of 40 ms are usual.
const WAITING: f64 = 0.3;
/// Sum of both, in cores, below which the node has hardly any work.
const LEAST_WORK: f64 = 0.1;
/// Share of all CPUs' time that the hypervisor gave to others.
const STOLEN: f64 = 0.1;
/// Share of the time in which a task of the machine waited for a CPU, with CPUs that are hardly idle.
const PRESSURE: f64 = 0.5;
const IDLE: f64 = 0.05;

/// Returns the cause of pauses that may last 40 ms, in words. `None` if none is known.
pub(crate) fn cause(case: &Case) -> Option<String> {
    let of_load = || {
        let doubt = case.load.as_ref()?.doubts.first()?;
        Some(format!("the load generator lacked time ({doubt})"))
    };
    of_load().or_else(|| of_host(case.host.as_ref().ok()?))
}

fn of_host(host: &Host) -> Option<String> {
    if let Some(throttled) = host.throttled_periods.and_then(|share| percent(share, THROTTLED)) {
        return Some(format!("the control group stops the node in {throttled} of the periods"));
    }
    if let Some(stolen) = percent(host.steal_share, STOLEN) {
        return Some(format!("the hypervisor takes {stolen} of the machine's CPU time"));
    }
    if let Some(waiting) = waiting(host).and_then(|share| percent(share, WAITING)) {
        return Some(format!("the node waits for a CPU in {waiting} of its work"));
    }
    let has_client = host.neighbours.iter().any(|other| other.is_client);
    let pressure = percent(host.cpu_pressure?, PRESSURE)?;
    let is_full = has_client && host.idle_share <= IDLE;
    is_full.then(|| {
        format!(
            "clients on this machine share its CPUs, for which tasks wait in {pressure} of the time"
        )
    })
}

fn waiting(host: &Host) -> Option<f64> {
    let waiting = host.waiting_cores?;
    let work = waiting + host.node_cores;
    (work >= LEAST_WORK).then(|| waiting / work)
}

/// Formats a share that is at least as large as `least`.
fn percent(share: f64, least: f64) -> Option<String> {
    (share.is_finite() && share >= least).then(|| format!("{:.0} %", 100.0 * share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Load, Neighbour, Subject};

    #[track_caller]
    fn check(change: impl Fn(&mut Host), expected: Option<&str>) {
        let mut host = Host {
            cpus: 4,
            node_cores: 1.0,
            waiting_cores: Some(0.1),
            throttled_periods: Some(0.0),
            cpu_pressure: Some(0.1),
            idle_share: 0.4,
            ..Host::default()
        };
        change(&mut host);
        let case = Case { host: Ok(host), ..Case::unread(Subject::default()) };
        let found = cause(&case);
        assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
        assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()));
    }

    #[test]
    fn causes_have_their_share() {
        check(|_| {}, None);
        check(|host| host.throttled_periods = Some(0.04), None);
        check(
            |host| host.throttled_periods = Some(0.4),
            Some("control group stops the node in 40 %"),
        );
        check(|host| host.steal_share = 0.2, Some("hypervisor takes 20 %"));
        check(|host| host.waiting_cores = Some(1.0), Some("waits for a CPU in 50 %"));
        check(|host| host.waiting_cores = Some(f64::NAN), None);
        check(|host| (host.node_cores, host.waiting_cores) = (0.01, Some(0.05)), None);
    }

    #[test]
    fn clients_on_a_full_machine_lack_time_too() {
        let full = |host: &mut Host| (host.cpu_pressure, host.idle_share) = (Some(0.7), 0.01);
        check(full, None);
        check(
            |host| {
                full(host);
                host.neighbours = vec![Neighbour { is_client: true, ..Neighbour::default() }];
            },
            Some("wait in 70 %"),
        );
    }

    #[test]
    fn a_load_generator_doubts_itself() {
        let mut case = Case::unread(Subject::default());
        assert_eq!(cause(&case), None);
        case.load = Some(Load { doubts: vec!["5 % late".to_owned()], ..Load::default() });
        assert!(cause(&case).unwrap().contains("5 % late"));
    }
}
