//! A separate network, as of a container.

use std::{
    fs::{self, File},
    os::fd::AsFd,
    process::Command,
    thread,
};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// A network with only `lo`. Dropping it removes it.
pub struct Network {
    /// Its name for `ip netns`.
    pub name: String,
}

impl Network {
    /// Makes a network. Fails with the words of `ip`.
    pub fn new() -> Result<Self, String> {
        let random = fs::read_to_string("/proc/sys/kernel/random/uuid").unwrap();
        let network = Self { name: format!("rabbitscope-{}", random.trim()) };
        run(&format!("ip netns add {}", network.name))?;
        run(&format!("ip -n {} link set lo up", network.name))?;
        Ok(network)
    }

    /// Runs a task in the network, on a thread that ends.
    pub fn within<T: Send>(&self, task: impl FnOnce() -> T + Send) -> T {
        let network = File::open(format!("/run/netns/{}", self.name)).unwrap();
        let inside = || {
            move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            task()
        };
        thread::scope(|scope| scope.spawn(inside).join().unwrap())
    }

    /// Runs `ip` or `tc` on this network.
    pub fn configure(&self, program: &str, words: &str) -> Result<(), String> {
        run(&format!("{program} -n {} {words}", self.name))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = run(&format!("ip netns delete {}", self.name));
    }
}

fn run(words: &str) -> Result<(), String> {
    let mut words_of = words.split(' ');
    let output = Command::new(words_of.next().unwrap()).args(words_of).output();
    let output = output.map_err(|error| format!("{words}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{words}: {said}")) }
}
