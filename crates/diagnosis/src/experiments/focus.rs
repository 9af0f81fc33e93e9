//! The queues and channels that a finding is about.

use crate::{
    case::{Case, ChannelCase, QueueCase},
    finding::Finding,
};

/// The queues and channels of a finding. Both are empty if its subjects are neither.
#[derive(Debug, Default)]
pub(super) struct Focus<'a> {
    pub(super) queues: Vec<&'a QueueCase>,
    pub(super) channels: Vec<&'a ChannelCase>,
}

impl<'a> Focus<'a> {
    /// Finds the subjects of a finding in a case. Subjects are names for people: a role can stand before the name, the
    /// virtual host or the client behind it.
    pub(super) fn new(case: &'a Case, finding: &Finding) -> Self {
        let is_named =
            |is_meant: &dyn Fn(&str) -> bool| finding.subjects.iter().any(|name| is_meant(name));
        let queues = case.queues.as_ref().map_or(&[][..], |queues| &queues.rows);
        let channels = case.clients.as_ref().map_or(&[][..], |clients| &clients.channels);
        let named: Vec<&QueueCase> = queues
            .iter()
            .filter(|queue| is_named(&|subject| means_queue(subject, queue)))
            .collect();
        let mut users: Vec<&ChannelCase> = channels
            .iter()
            .filter(|channel| is_named(&|subject| contains(subject, &channel.name)))
            .collect();
        if users.is_empty() {
            users = channels_of_connections(case, finding);
        }
        let queues = if named.is_empty() { consumed(queues, &users) } else { named };
        Self { queues, channels: users }
    }
}

fn means_queue(subject: &str, queue: &QueueCase) -> bool {
    let without_role = subject.split_once(' ').map_or("", |(_, name)| name);
    let in_vhost = format!("{} in {}", queue.name, queue.vhost);
    [subject, without_role].into_iter().any(|name| name == queue.name || name == in_vhost)
}

fn contains(subject: &str, name: &str) -> bool {
    !name.is_empty() && subject.contains(name)
}

fn channels_of_connections<'a>(case: &'a Case, finding: &Finding) -> Vec<&'a ChannelCase> {
    let Ok(clients) = &case.clients else { return Vec::new() };
    let meant = clients.connections.iter().filter(|connection| {
        finding.subjects.iter().any(|subject| contains(subject, &connection.name))
    });
    let pids: Vec<&String> = meant.map(|connection| &connection.pid).collect();
    clients.channels.iter().filter(|channel| pids.contains(&&channel.connection)).collect()
}

/// Returns the queues that channels consume from.
fn consumed<'a>(queues: &'a [QueueCase], channels: &[&ChannelCase]) -> Vec<&'a QueueCase> {
    let is_consumed = |queue: &&QueueCase| {
        channels.iter().any(|channel| {
            channel.vhost == queue.vhost && channel.consumed_queues.contains(&queue.name)
        })
    };
    queues.iter().filter(is_consumed).collect()
}
