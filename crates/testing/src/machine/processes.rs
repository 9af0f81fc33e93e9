//! Processes of the machine, as `/proc` shows them.

use std::{fmt::Display, fs, thread, time::Duration};

use rustix::process::{Pid, Signal, kill_process};

/// Returns a process id for the kernel's calls.
pub fn pid(pid: u32) -> Pid {
    Pid::from_raw(pid.try_into().unwrap()).unwrap()
}

/// Stops a process for a while, and lets it continue.
pub fn pause(process: u32, time: Duration) {
    kill_process(pid(process), Signal::STOP).unwrap();
    thread::sleep(time);
    kill_process(pid(process), Signal::CONT).unwrap();
}

/// Returns the processes with a text in their environment.
pub fn processes_naming(text: impl Display) -> Vec<u32> {
    processes_with(&text.to_string(), &["environ"])
}

/// Returns the processes with a text in their arguments or environment, which other users may be able to read.
pub fn processes_showing(text: impl Display) -> Vec<u32> {
    processes_with(&text.to_string(), &["cmdline", "environ"])
}

fn processes_with(text: &str, files: &[&str]) -> Vec<u32> {
    let has = |pid: &u32, file: &str| {
        fs::read(format!("/proc/{pid}/{file}")).is_ok_and(|bytes| holds(&bytes, text.as_bytes()))
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| files.iter().any(|file| has(pid, file))).collect()
}

/// Returns whether bytes have a word among them.
pub fn holds(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

/// Returns the ids of the kernel's programs to which a process holds descriptors.
pub fn kernel_programs_of(pid: u32) -> Vec<u32> {
    let infos = fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten().flatten();
    let texts = infos.filter_map(|info| fs::read_to_string(info.path()).ok());
    let id = |text: String| {
        let id = text.lines().find_map(|line| line.strip_prefix("prog_id:"))?;
        id.trim().parse().ok()
    };
    texts.filter_map(id).collect()
}
