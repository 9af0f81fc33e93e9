//! Synthetic captures with their true figures, and the analyzer's reports on them. `capture` builds them.

mod activity;
mod bounds;
mod capture;
mod events;
mod links;
mod logins;
mod mqtt;
