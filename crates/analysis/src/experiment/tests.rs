//! Known results, and error rates on noise like that of a shared machine.

mod advice;
mod conclusions;
mod recorded;
mod simulation;
