//! CPU time of shared processes, distributed over the queues that they work for.

use super::names;
use crate::case::{Case, ChannelCase, Cpu, ProcessCpu, QueueCase, QueueKind, Queues};

/// A shared process and the queues that it works for.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribution {
    /// Pid, as the node prints it.
    pub pid: String,
    /// Role and name.
    pub process: String,
    /// CPU time in cores.
    pub cores: f64,
    /// The weights, in words.
    pub weights: &'static str,
    /// Queues, the most expensive first.
    pub queues: Vec<QueueShare>,
    /// CPU time in cores that belongs to no known queue.
    pub rest: f64,
}

/// A queue's part of a shared process.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueShare {
    /// Name of the queue, with its virtual host unless that is `/`.
    pub queue: String,
    /// CPU time in cores.
    pub cores: f64,
}

/// Distributes the CPU time of logs, message stores and channels over queues, by the messages per second of each.
/// The CPU time of queues without a row and of unknown work is the rest.
pub fn attribute(case: &Case) -> Vec<Attribution> {
    let (Ok(cpu), Ok(queues)) = (&case.cpu, &case.queues) else { return Vec::new() };
    let unlisted = unlisted_rate(case, queues);
    let shared = |process: &ProcessCpu| match process.role.as_str() {
        "ra_log" => {
            Some(by_published(process, queues, unlisted, |queue| queue.kind == QueueKind::Quorum))
        }
        "msg_store" => {
            let is_transient = process.name.contains("transient");
            Some(by_published(process, queues, unlisted, |queue| {
                queue.kind == QueueKind::Classic && !(is_transient && queue.is_durable)
            }))
        }
        "channel" | "session" => Some(by_delivered(process, case, queues)),
        _ => None,
    };
    cpu.processes.iter().filter_map(shared).collect()
}

/// Returns the parts of a process, by pid, in words: `its 0.27 cores work for orders (0.25 cores)`.
pub(crate) fn words(case: &Case, cpu: &Cpu, pid: &str) -> Option<String> {
    /// Queues that a sentence names.
    const NAMED: usize = 3;
    let own = cpu.processes.iter().find(|process| process.pid == pid)?;
    let found = attribute(case).into_iter().find(|shared| shared.pid == own.pid)?;
    let named: Vec<String> = found.queues.iter().take(NAMED).map(share_words).collect();
    let rest = found.cores - found.queues.iter().take(NAMED).map(|share| share.cores).sum::<f64>();
    let others = if rest >= 0.005 { format!(", others {rest:.2}") } else { String::new() };
    (!named.is_empty()).then(|| {
        let list = named.join(", ");
        format!("its {:.2} cores work for {list}{others} ({})", found.cores, found.weights)
    })
}

fn share_words(share: &QueueShare) -> String {
    format!("{} {:.2}", share.queue, share.cores)
}

/// Returns messages per second that were published into queues without a row.
fn unlisted_rate(case: &Case, queues: &Queues) -> f64 {
    let listed: f64 = queues.rows.iter().filter_map(|queue| queue.published_per_second).sum();
    let of_node = case.broker.as_ref().ok().and_then(|broker| broker.rates.published);
    let is_complete = queues.count <= queues.rows.len() as u64;
    if is_complete { 0.0 } else { positive(of_node.unwrap_or(0.0) - listed) }
}

fn by_published(
    process: &ProcessCpu,
    queues: &Queues,
    unlisted: f64,
    is_served: impl Fn(&QueueCase) -> bool,
) -> Attribution {
    let served = queues.rows.iter().filter(|queue| is_served(queue));
    let weights = served.map(|queue| (queue, queue.published_per_second.unwrap_or(0.0)));
    distribute(process, 1.0, weights, unlisted, "by published messages per second")
}

/// Distributes the delivering part of a channel over the queues that it consumes. Its publishing part is the rest.
fn by_delivered(process: &ProcessCpu, case: &Case, queues: &Queues) -> Attribution {
    let channels = case.clients.as_ref().map_or(&[][..], |clients| &clients.channels);
    let channel = channels.iter().find(|channel| channel.pid == process.pid);
    let consumed = queues.rows.iter().filter(|queue| {
        channel.is_some_and(|channel| {
            channel.vhost == queue.vhost && channel.consumed_queues.contains(&queue.name)
        })
    });
    let weights = consumed.map(|queue| (queue, queue.delivered_per_second.unwrap_or(0.0)));
    let part = channel.map_or(0.0, delivering_part);
    distribute(process, part, weights, 0.0, "by delivered messages per second")
}

/// Returns the share of a channel's messages that it delivers.
fn delivering_part(channel: &ChannelCase) -> f64 {
    let delivered = positive(channel.delivered_per_second.unwrap_or(0.0));
    let published = positive(channel.published_per_second.unwrap_or(0.0));
    let sum = delivered + published;
    if sum > 0.0 && sum.is_finite() { delivered / sum } else { 0.0 }
}

fn distribute<'a>(
    process: &ProcessCpu,
    part: f64,
    weights: impl Iterator<Item = (&'a QueueCase, f64)>,
    rest_weight: f64,
    words: &'static str,
) -> Attribution {
    let cores = positive(process.cores);
    let weights: Vec<(&QueueCase, f64)> = weights
        .map(|(queue, weight)| (queue, positive(weight)))
        .filter(|row| row.1 > 0.0)
        .collect();
    let sum = weights.iter().map(|row| row.1).sum::<f64>() + rest_weight;
    let share = |weight: f64| if sum.is_finite() { part * cores * (weight / sum) } else { 0.0 };
    let mut queues: Vec<QueueShare> = weights
        .iter()
        .map(|(queue, weight)| QueueShare { queue: names::queue(queue), cores: share(*weight) })
        .collect();
    queues.sort_by(|one, other| other.cores.total_cmp(&one.cores));
    let rest = positive(cores - queues.iter().map(|share| share.cores).sum::<f64>());
    let process_name = names::process(process);
    Attribution {
        pid: process.pid.clone(),
        process: process_name,
        cores,
        weights: words,
        queues,
        rest,
    }
}

/// Returns a figure, or 0 if it is negative or no number.
fn positive(figure: f64) -> f64 {
    if figure.is_finite() { figure.max(0.0) } else { 0.0 }
}
