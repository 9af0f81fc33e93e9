//! Scripts of frames and the latencies that follow from them: `script` is the language, the others are the scripts.

mod confirms;
mod deliveries;
mod methods;
mod other_protocols;
mod script;
