//! A scenario, built from its tables.

use std::fmt;

use toml::{Table, Value};

use super::tables::{
    Churn, Consumers, Exchange, Fault, Poller, Profile, Publishers, Queue, Requests, Responders,
};

/// A scenario. Displaying it writes TOML.
#[derive(Clone, Debug)]
pub struct Scenario {
    keys: Table,
    text: String,
}

/// Declares methods that add a table to a list.
macro_rules! lists {
    ($($list:ident: $table:ident)*) => {
        impl Scenario {
            $(
                #[doc = concat!("Adds to `[[", stringify!($list), "]]`.")]
                #[must_use]
                pub fn $list(mut self, table: $table) -> Self {
                    let list = self.keys.entry(stringify!($list)).or_insert(Value::Array(Vec::new()));
                    list.as_array_mut().unwrap().push(Value::Table(table.0));
                    self
                }
            )*
        }
    };
}

lists! {
    exchanges: Exchange
    queues: Queue
    publishers: Publishers
    consumers: Consumers
    requests: Requests
    responders: Responders
    churn: Churn
    pollers: Poller
    faults: Fault
}

/// Declares methods that set a key of a section.
macro_rules! sections {
    ($($section:literal: $($key:ident)*;)*) => {
        impl Scenario {
            $($(
                #[doc = concat!("Sets `", $section, ".", stringify!($key), "`.")]
                #[must_use]
                pub fn $key(self, value: impl Into<Value>) -> Self {
                    self.set(&[$section, &stringify!($key).replace('_', "-")], value)
                }
            )*)*
        }
    };
}

sections! {
    "run": duration until empty_timeout verify trace_every latency_by_queue self_check;
    "broker": nodes cluster plugins config patches recovery recovery_delay recovery_max_delay connect_timeout;
}

impl Scenario {
    /// Starts a scenario of this name.
    pub fn new(name: &str) -> Self {
        Self { keys: Table::new(), text: String::new() }.set(&["name"], name)
    }

    /// Starts a scenario with one queue, which has its name.
    pub fn with_queue(name: &str) -> Self {
        Self::new(name).queues(Queue::new(name))
    }

    /// Makes a steady load of publishers and consumers on one classic queue, of this length.
    pub fn steady(queue: &str, duration: &str) -> Self {
        Self::new("test")
            .duration(duration)
            .queues(Queue::new(queue).durable(true))
            .publishers(Publishers::new(queue).rate(2000).confirm_window(100))
            .consumers(Consumers::new(queue).prefetch(100))
    }

    /// Sets the seed of random numbers.
    #[must_use]
    pub fn seed(self, seed: i64) -> Self {
        self.set(&["seed"], seed)
    }

    /// Records a profile.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.keys.insert("profile".to_owned(), Value::Table(profile.0));
        self
    }

    /// Expects a figure, such as `confirm.p99`.
    #[must_use]
    pub fn expect(self, figure: &str, limit: &str) -> Self {
        let path: Vec<&str> = ["expect"].into_iter().chain(figure.split('.')).collect();
        self.set(&path, limit)
    }

    /// Leaves out a list or section.
    #[must_use]
    pub fn without(mut self, key: &str) -> Self {
        assert!(self.keys.remove(key).is_some(), "{key} is not in {self}");
        self
    }

    /// Adds text behind all tables, as a person may type it.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.text += text;
        self
    }

    fn set(mut self, path: &[&str], value: impl Into<Value>) -> Self {
        let (key, tables) = path.split_last().unwrap();
        let table = tables.iter().fold(&mut self.keys, |table, name| {
            let inner = table.entry(*name).or_insert(Value::Table(Table::new()));
            inner.as_table_mut().unwrap()
        });
        table.insert((*key).to_owned(), value.into());
        self
    }
}

/// Declares methods that change the first table of a list.
macro_rules! changes {
    ($($name:ident: $list:literal $table:ident)*) => {
        impl Scenario {
            $(
                #[doc = concat!("Changes the first of `[[", $list, "]]`.")]
                #[must_use]
                pub fn $name(mut self, change: impl FnOnce($table) -> $table) -> Self {
                    let first = self.keys[$list][0].as_table_mut().unwrap();
                    *first = change($table(first.clone())).0;
                    self
                }
            )*
        }
    };
}

changes! {
    change_queue: "queues" Queue
    change_publishers: "publishers" Publishers
    change_consumers: "consumers" Consumers
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.keys, self.text)
    }
}
