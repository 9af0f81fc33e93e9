//! `rabbitscope packets`, against a real broker. It finds and names planted faults, and no others. Its counts equal
//! those of the load, and of other clients. No file has a secret.

mod client;
mod clients;
mod cuts;
mod files;
mod kept;
mod limits;
mod looking;
mod planted;
mod runs;
