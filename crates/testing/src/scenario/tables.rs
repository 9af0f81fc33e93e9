//! Tables of a scenario. Each key is a method with `_` for `-`.

use toml::{Table, Value};

/// Parses a value of TOML, such as an inline table.
#[track_caller]
pub fn raw(value: &str) -> Value {
    let mut table: Table = toml::from_str(&format!("value = {value}")).unwrap();
    table.remove("value").unwrap()
}

/// Declares a table and its keys.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident($first:literal): $($key:ident)*) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(pub(super) Table);

        impl $name {
            #[doc = concat!("Starts with `", $first, "`.")]
            pub fn new(first: &str) -> Self {
                Self(Table::new()).set($first, first)
            }

            $(
                #[doc = concat!("Sets `", stringify!($key), "`.")]
                #[must_use]
                pub fn $key(self, value: impl Into<Value>) -> Self {
                    self.set(stringify!($key), value)
                }
            )*

            fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
                self.0.insert(key.replace('_', "-"), value.into());
                self
            }
        }
    };
}

table! {
    /// A queue, or a set of queues with numbered names.
    Queue("name"): from to names_file partitions durable exclusive keep predeclared prefill prefill_size arguments bindings
}

table! {
    /// An exchange.
    Exchange("name"): durable auto_delete predeclared bindings
}

table! {
    /// A group of publishers.
    Publishers("queue"):
        name protocol mqtt_version qos topic_alias to count connections connections_of channels rate messages size sizes size_shares key_shares key_exponent confirm_window confirm_timeout
        on_confirm_timeout tx_size mandatory persistent republish_unconfirmed reference sub_entry_size start_delay late write
        body body_files compression compression_level items_per_message routing_keys properties property_shares
}

table! {
    /// A group of consumers.
    Consumers("queue"):
        name protocol mqtt_version qos credit consumer_name store_every single_active_consumer match_unfiltered member_queues count connections connections_of channels rate messages prefetch channel_prefetch multi_ack_every
        auto_ack nack nack_share requeue requeue_share tx_size polling poll_interval processing_time processing_time_shares concurrency start_delay slow_start
        exclusive unpack offset filter forward arguments
}

table! {
    /// A group of callers.
    Requests("queue"): count connections channels messages
}

table! {
    /// A group of responders.
    Responders("queue"): count connections prefetch
}

table! {
    /// A group that opens and closes.
    Churn("kind"): name queue exchange rate hold concurrency connections cycles durable arguments
}

table! {
    /// Requests of a URL.
    Poller("url"): name interval count user password_env
}

table! {
    /// A fault of a node.
    Fault("kind"): node queue at
}

table! {
    /// The recording of a profile, for so long.
    Profile("duration"): delay event freq
}

impl Queue {
    /// Returns the name.
    pub fn name(&self) -> &str {
        self.0["name"].as_str().unwrap()
    }

    /// Sets the type, such as `quorum`.
    #[must_use]
    pub fn of_type(self, name: &str) -> Self {
        self.set("type", name)
    }

    /// Makes a transient queue.
    #[must_use]
    pub fn transient(self) -> Self {
        self.durable(false)
    }

    /// Binds the queue to an exchange.
    #[must_use]
    pub fn bound(self, exchange: &str, key: &str) -> Self {
        self.bindings(bindings(&[(exchange, key)]))
    }
}

impl Exchange {
    /// Sets the type, such as `fanout`.
    #[must_use]
    pub fn of_type(self, name: &str) -> Self {
        self.set("type", name)
    }

    /// Binds the exchange to another one with several keys.
    #[must_use]
    pub fn bound(self, exchange: &str, keys: &[&str]) -> Self {
        let pairs: Vec<_> = keys.iter().map(|key| (exchange, *key)).collect();
        self.bindings(bindings(&pairs))
    }
}

fn bindings(pairs: &[(&str, &str)]) -> Value {
    let binding = |(exchange, key): &(&str, &str)| {
        let keys = [("exchange", *exchange), ("routing-key", *key)];
        let keys = keys.into_iter().filter(|(_, value)| !value.is_empty());
        Value::Table(keys.map(|(name, value)| (name.to_owned(), value.into())).collect())
    };
    Value::Array(pairs.iter().map(binding).collect())
}

impl Publishers {
    /// Gives messages filter values in turn.
    #[must_use]
    pub fn filter_values(self, values: &[&str]) -> Self {
        self.set("filter-values", values.to_vec())
    }

    /// Publishes through an exchange in place of a queue; an empty key is none.
    pub fn through(exchange: &str, key: &str) -> Self {
        let publishers = Self(Table::new()).set("exchange", exchange);
        if key.is_empty() { publishers } else { publishers.set("routing_key", key) }
    }

    /// Publishes to a topic of MQTT.
    pub fn to_topic(topic: &str) -> Self {
        Self(Table::new()).set("topic", topic)
    }

    /// Publishes to several topics of MQTT in turn.
    pub fn to_topics(topics: &[&str]) -> Self {
        Self(Table::new()).set("topics", topics.to_vec())
    }
}

impl Consumers {
    /// Reads only messages with these filter values.
    #[must_use]
    pub fn filter_values(self, values: &[&str]) -> Self {
        self.set("filter-values", values.to_vec())
    }

    /// Subscribes to topics of MQTT.
    pub fn of_topics(topics: &[&str]) -> Self {
        Self(Table::new()).set("topics", topics.to_vec())
    }
}

impl Churn {
    /// Sets the type of queues.
    #[must_use]
    pub fn of_type(self, name: &str) -> Self {
        self.set("type", name)
    }
}

impl Fault {
    /// Undoes the fault after this time.
    #[must_use]
    pub fn lasting(self, time: &str) -> Self {
        self.set("for", time)
    }
}
