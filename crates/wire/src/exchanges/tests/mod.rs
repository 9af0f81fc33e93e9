//! Scripts of frames, and the resulting latencies: `script` defines the language, the other files contain the scripts.

mod confirms;
mod deliveries;
mod methods;
mod other_protocols;
mod script;
