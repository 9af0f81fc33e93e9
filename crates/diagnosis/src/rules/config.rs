//! Names of settings that several rules change, and texts for files.

/// Prefetch count of consumers.
pub(crate) const PREFETCH: &str = "prefetch";
/// Number of channels of a publisher.
pub(crate) const CHANNELS: &str = "channels of publishers";
/// Number of queues among which the messages are divided.
pub(crate) const QUEUES: &str = "number of queues";
/// Use of `basic.get`.
pub(crate) const CONSUME: &str = "basic.consume";
/// Life of connections.
pub(crate) const CONNECTION_LIFE: &str = "life of connections";
/// Life of channels.
pub(crate) const CHANNEL_LIFE: &str = "life of channels";
/// Number of unconfirmed messages of a publisher.
pub(crate) const UNCONFIRMED: &str = "unconfirmed messages of publishers";
/// Memory above which the alarm is raised.
pub(crate) const WATERMARK: &str = "vm_memory_high_watermark";
/// Speed of the disk with the node's data.
pub(crate) const DISK: &str = "disk of the node's data";
/// Number of schedulers.
pub(crate) const SCHEDULERS: &str = "+S";
/// Memory of the machine.
pub(crate) const MEMORY: &str = "memory of the machine";

/// Returns the text of `advanced.config` that sets a key of the application `rabbit`.
pub(crate) fn advanced(key: &str, value: &str) -> String {
    format!("[{{rabbit, [{{{key}, {value}}}]}}].")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advanced_settings_are_a_term() {
        let term = advanced("quorum_commands_soft_limit", "256");
        assert_eq!(term, "[{rabbit, [{quorum_commands_soft_limit, 256}]}].");
    }
}
