//! The summary at the end of a run, in plain text.

use std::{
    fmt::{self, Write},
    path::Path,
};

use rabbitscope_analysis::{
    Activity, ClientEffort, LoadRates, WaitTimes, caution, hottest, occurrences, quality_sentence,
    shown_part,
};
use rabbitscope_diagnosis::Brief;
use rabbitscope_profiles::{Capture, Event, Profile, StackQuality};
use rabbitscope_runs::{
    record::{PacketFacts, PatchedModule, RunRecord, SecondRow},
    scenario::{PublisherGroup, Scenario},
};
use serde::Serialize;

use super::{
    Finished,
    breakdown::{breakdown, ends, latency_table},
    faults::faults_text,
    interruptions::{
        ending, interruptions, judgement, loss, overdue, unsteady, without_credit, written,
    },
    owners::{HeldShare, HotFunction, Owners, busy, held, ranked},
    unconsumed::unconsumed,
};
use crate::fleet::workers;
use rabbitscope_text::{escapes, grouped, grouped_rate, short_time};

const HOTTEST: usize = 10;
const MIB: f64 = 1024.0 * 1024.0;

/// Returns the limit, rates, latencies, usage, hottest functions, quality, losses and the places of all results.
pub fn summary(finished: &Finished, scenario: &Scenario, directory: &Path) -> String {
    let record = &finished.record;
    let mut text = head(record, scenario);
    if let Some(checked) = &finished.checked {
        let _ = writeln!(text, "{}", Brief::from_report(checked));
    }
    if let Some(measured) = LoadRates::from_series(&finished.series) {
        text += &rates(&measured, record, scenario);
        text += &usage(&measured, &finished.series, record);
        text += &effort(&measured.effort);
    }
    text += &unsteady(record);
    text += &workers(record);
    text += &interruptions(record);
    text += &faults_text(record);
    text += &latency_table(&record.latencies);
    text += &ends(record);
    text += &overdue(&record.latencies);
    text += &breakdown(record);
    if let Some(packets) = &record.packets {
        text += &on_the_wire(packets, record);
    }
    for profile in &finished.profiles {
        text += "\n";
        text += &ProfileSummary::from_profile(profile).to_string();
    }
    if let Some(found) = &record.verification {
        let _ = writeln!(text, "\n{}", found.sentence);
    }
    text += &record.losses.iter().map(loss).collect::<String>();
    text += &unconsumed(record, scenario, &finished.series);
    text += &judgement(record);
    text += &ending(&record.verdict);
    text + &format!("\nrun     {}\nreport  {}\n", directory.display(), finished.report.display())
}

/// States the part of the confirm latency between the broker's packets, and the findings from packets.
fn on_the_wire(packets: &PacketFacts, record: &RunRecord) -> String {
    let mut text = match packets.not_captured() {
        Some(reason) => format!("\npackets        not captured: {}", escapes::value(reason)),
        None => format!("\npackets        {} seen", grouped(packets.packets)),
    };
    match (packets.publish_to_confirm_p50, record.confirm_medians()) {
        (_, Some([wire, whole])) => {
            let share = 100.0 * wire as f64 / whole as f64;
            let _ = write!(
                text,
                "; from publish to confirm on the wire p50 {}, {share:.0} % of what the load generator measured ({})",
                short_time(wire),
                short_time(whole)
            );
        }
        (Some(wire), None) => {
            let _ = write!(text, "; from publish to confirm on the wire p50 {}", short_time(wire));
        }
        (None, _) => {}
    }
    text.push('\n');
    for missing in packets.missing.iter().filter(|one| one.source != "packets") {
        let reason = escapes::value(&missing.reason);
        let _ = writeln!(text, "{:<15}not seen: {reason}", missing.source);
    }
    if let Some(reason) = &packets.cut_short {
        let _ = writeln!(text, "note: the capture was cut short: {reason}");
    }
    for finding in &packets.findings {
        let _ = writeln!(text, "finding        {finding}");
    }
    text
}

/// Names a module of the broker that differs from the installed one.
fn patched(module: &PatchedModule) -> String {
    let what = if module.is_whole { "as a whole".to_owned() } else { module.functions.join(", ") };
    format!("patched: {} ({what}), by {}\n", module.module, module.file)
}

/// States which figures cover all nodes, and which only one.
fn cluster(record: &RunRecord, scenario: &Scenario) -> String {
    let nodes = &record.broker.nodes;
    let Some(first) = nodes.first() else { return String::new() };
    let what = if !record.broker.throwaway {
        format!("{} nodes on this machine", nodes.len())
    } else if scenario.broker.spec.is_several_brokers() {
        format!("{} independent brokers", nodes.len())
    } else {
        format!("cluster of {} nodes", nodes.len())
    };
    let of_each = nodes.iter().filter_map(|node| {
        let cores = node.cpu_nanos? as f64 / record.duration_nanos.max(1) as f64;
        let mib = node.rss_bytes? as f64 / MIB;
        Some(format!("  {:<40}{cores:>6.2} cores, at most {mib:.0} MiB\n", node.name))
    });
    format!(
        "{what}: CPU time and memory of all together, profile and packets of {} alone\n{}",
        first.name,
        of_each.collect::<String>()
    )
}

fn head(record: &RunRecord, scenario: &Scenario) -> String {
    let broker = &record.broker;
    let kind = if broker.throwaway { "throwaway" } else { "existing" };
    let line = format!(
        "{}: {} {} ({}), {kind} broker at {}",
        record.name, broker.product, broker.version, broker.platform, broker.address
    );
    let patched: String = broker.patched.iter().map(patched).collect();
    let cluster = cluster(record, scenario);
    format!("{}\n{cluster}{}\n", escapes::value(&line), escapes::text(&patched))
}

/// Returns the table of rates and counts. Rates cover the time under load; counts cover the whole run. Kinds that the
/// scenario configures have a line even if their count is 0.
fn rates(rates: &LoadRates, record: &RunRecord, scenario: &Scenario) -> String {
    let load = &record.load;
    let Scenario { publishers, consumers, requests, churn, .. } = scenario;
    let has_confirms = publishers.iter().any(PublisherGroup::has_confirms);
    let accepted = load.counts.accepted_or_written();
    let rows = [
        ("published", rates.published(), accepted, !publishers.is_empty()),
        ("confirmed", rates.confirmed, load.counts.confirmed, has_confirms),
        ("consumed", rates.consumed, load.counts.consumed, !consumers.is_empty()),
        ("replies", rates.replied, load.counts.replies, !requests.is_empty()),
        ("opened", rates.churned, load.counts.churn_opened, !churn.is_empty()),
    ];
    let mut text = String::new();
    for (name, rate, count, _) in
        rows.into_iter().filter(|&(_, _, count, is_meant)| is_meant || count > 0)
    {
        let (rate, count, seconds) = (grouped_rate(rate), grouped(count), rates.seconds);
        let unit = if name == "opened" { "/s    " } else { "msg/s " };
        let what = if name == "published" { acceptance(rates) } else { "" };
        let _ =
            writeln!(text, "{name:<10}{rate:>11} {unit} ({seconds:.1} s; {count}{what} in all)");
    }
    text += &written(rates, record);
    text += &without_credit(record);
    text += &items(rates, scenario);
    let counts = [
        ("returned", load.counts.returned, "messages"),
        ("refused", load.counts.nacked, "messages"),
        ("stray", load.counts.stray_replies, "late or repeated replies"),
        ("broken", load.counts.unpacking_failures, "messages that could not be unpacked"),
    ];
    for (name, count, what) in counts.into_iter().filter(|&(_, count, _)| count > 0) {
        let _ = writeln!(text, "{name:<10}{:>11} {what}", grouped(count));
    }
    text
}

/// Returns the known state of published messages.
fn acceptance(rates: &LoadRates) -> &'static str {
    if rates.accepted.is_some() { " accepted" } else { " written" }
}

/// Returns the items of applications, if messages hold several of them or are compressed.
fn items(rates: &LoadRates, scenario: &Scenario) -> String {
    if !scenario.publishers.iter().any(PublisherGroup::is_packed) {
        return String::new();
    }
    let sides = [
        ("sent", rates.published_items, rates.published_item_bytes),
        ("taken", rates.consumed_items, rates.consumed_item_bytes),
    ];
    let mut text = String::new();
    for (name, items, bytes) in sides.into_iter().filter(|(_, items, _)| *items > 0.0) {
        let (items, megabytes) = (grouped_rate(items), bytes / 1e6);
        let _ = writeln!(
            text,
            "{name:<10}{items:>11} items/s ({megabytes:.1} MB/s without compression)"
        );
    }
    text
}

fn usage(rates: &LoadRates, series: &[SecondRow], record: &RunRecord) -> String {
    let peak = series.iter().filter_map(|row| row.broker_rss_bytes).max();
    let Some((cores, peak)) = rates.broker_cpu_cores.zip(peak) else { return String::new() };
    let client = record.load.counts.client_cpu_nanos as f64 / record.duration_nanos.max(1) as f64;
    format!(
        "broker    {cores:>11.2} cores, at most {:.0} MiB resident; load generator {client:.2} cores\n",
        peak as f64 / MIB
    )
}

/// Describes the client's effort per message; empty if there were no messages.
fn effort(effort: &ClientEffort) -> String {
    if effort.calls_per_message <= 0.0 {
        return String::new();
    }
    format!(
        "client    {:>11.2} µs CPU and {:.3} calls a message; {:.1} messages and {:.0} B a write, \
         {:.1} messages and {:.0} B a read\n",
        effort.cpu_nanos_per_message / 1000.0,
        effort.calls_per_message,
        effort.messages_per_write,
        effort.bytes_per_write,
        effort.messages_per_read,
        effort.bytes_per_read,
    )
}

/// The hottest Erlang functions and the quality of the stacks.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProfileSummary<'a> {
    event: Event,
    /// Number of occurrences of the event: samples, waits, calls …
    count: u64,
    /// Times off the CPU, by state. All other figures here cover the blocked time alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    waits: Option<WaitTimes>,
    /// Warning that there are no samples, or too few for shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    caution: Option<String>,
    activity: Activity,
    hottest: Vec<HotFunction>,
    /// Shares of activities for no Erlang function.
    held: Vec<HeldShare>,
    owners: Owners,
    capture: &'a Capture,
    quality: StackQuality,
}

impl<'a> ProfileSummary<'a> {
    /// Summarises a profile.
    pub fn from_profile(profile: &'a Profile) -> Self {
        let shown = shown_part(profile);
        let whole = shown.total();
        let hottest = hottest(&shown, HOTTEST).into_iter().map(|row| HotFunction::new(row, whole));
        Self {
            event: profile.event,
            count: occurrences(&shown),
            waits: WaitTimes::from_profile(profile),
            caution: caution(&shown),
            activity: Activity::from_profile(&shown),
            hottest: hottest.collect(),
            held: held(&shown),
            owners: Owners::from_profile(&shown),
            capture: &profile.capture,
            quality: shown.quality,
        }
    }
}

impl fmt::Display for ProfileSummary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(waits) = &self.waits {
            writeln!(f, "{}", off_cpu(waits))?;
        }
        if let Some(caution) = &self.caution {
            writeln!(f, "{caution}")?;
        }
        if self.count == 0 {
            return Ok(());
        }
        let of = match (self.event, self.waits) {
            (Event::Cpu, _) => "own time, with native and kernel code they call".to_owned(),
            (_, Some(_)) => "share of the blocked time, with what they call".to_owned(),
            (event, None) => format!("share of {}, with what they call", event.unit()),
        };
        writeln!(f, "{}", busy(&self.activity, self.event))?;
        writeln!(
            f,
            "Hottest Erlang functions ({of}), in brackets the time outside Erlang functions"
        )?;
        write!(f, "{}{}", ranked(&self.hottest, &self.held), self.owners)?;
        writeln!(f, "\n{}", quality_sentence(&self.quality))
    }
}

/// Describes the time off the CPU of all threads together.
fn off_cpu(waits: &WaitTimes) -> String {
    let seconds = |nanos: u64| nanos as f64 / 1e9;
    format!(
        "Off the CPU: blocked {:.3} s, runnable {:.3} s; idle {:.1} s, which is in no share",
        seconds(waits.blocked_nanos),
        seconds(waits.runnable_nanos),
        seconds(waits.idle_nanos),
    )
}

/// Returns the number of written messages if it differs much from the number that the broker accepted, otherwise 0.
fn written_beside(row: &SecondRow) -> u64 {
    let (written, accepted) = (row.counts.published, row.counts.accepted_or_written());
    let is_far = written.abs_diff(accepted) * 10 > written.max(accepted);
    if is_far { written } else { 0 }
}

/// Describes one second in one line.
pub fn second(row: &SecondRow) -> String {
    let per_second =
        |count: u64| grouped_rate(count as f64 * 1e9 / row.interval_nanos.max(1) as f64);
    let mut text = format!("{:>4} s", row.second + 1);
    let counts = [
        ("published", row.counts.accepted_or_written()),
        ("written", written_beside(row)),
        ("confirmed", row.counts.confirmed),
        ("consumed", row.counts.consumed),
        ("replies", row.counts.replies),
        ("opened", row.counts.churn_opened),
    ];
    for (name, count) in counts {
        if count > 0 {
            let _ = write!(text, "  {name} {}/s", per_second(count));
        }
    }
    if let Some(cores) = row.broker_cpu_cores {
        let _ = write!(text, "  broker {cores:.2} cores");
    }
    text
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario;

    use super::*;

    #[test]
    fn what_the_scenario_is_about_has_a_line() {
        let run = "name = 's'\nrun.duration = '1s'\nqueues = [{ name = 'q' }]\n";
        let of = |groups: &str| scenario::parse(&format!("{run}{groups}"), "s", &[]).unwrap();
        let record = RunRecord::default();
        let messages =
            of("publishers = [{ queue = 'q', rate = 5 }, { queue = 'q', confirm-window = 5 }]\n\
             consumers = [{ queue = 'q' }]");
        let text = rates(&LoadRates::default(), &record, &messages);
        let names: Vec<_> = text.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(names, ["published", "confirmed", "consumed"], "{text}");
        let polls = of("pollers = [{ url = 'http://h/' }]");
        assert_eq!(rates(&LoadRates::default(), &record, &polls), "");
    }
}
