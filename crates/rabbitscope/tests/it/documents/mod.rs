//! Documents: links, pages, README, and the reference of commands and keys.

mod links;
mod readme;
mod reference;
