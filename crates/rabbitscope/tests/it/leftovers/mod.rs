//! Objects that killed runs leave on a broker, and their removal.

mod adoption;
mod removal;
mod sight;
