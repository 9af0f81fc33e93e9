//! Throwaway brokers: their start and stop, their owners, and other users of the machine.

mod definitions;
mod independent;
mod out_of_sight;
mod squatters;
mod staying;
