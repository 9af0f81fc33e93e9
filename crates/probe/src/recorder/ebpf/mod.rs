//! The eBPF backend. Programs in the kernel walk the stacks at each event; [`program`] loads them, [`attach`]
//! attaches them. [`sampler`] fetches the samples: ticks out of a ring buffer ([`tick`]), counted samples out of a
//! map ([`maps`]). Several nodes share one clock ([`shared_clock`]).

mod attach;
mod maps;
mod program;
mod ring_size;
mod sampler;
mod shared_clock;
mod tick;

pub(super) use ring_size::ring_room;
pub(super) use sampler::EbpfSampler;
pub(super) use shared_clock::SharedClock;
