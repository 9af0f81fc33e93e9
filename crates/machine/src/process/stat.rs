//! State, times and memory of a process or thread.

use std::{io, ops::Range};

use crate::text::read;

/// The fields of `/proc/PID/stat` in use (`proc_pid_stat(5)`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Name of the program or thread, at most 15 bytes.
    pub name: String,
    /// Letter of the state.
    pub state: char,
    /// Pid of the parent.
    pub parent: u32,
    /// Number of the controlling terminal; 0 for none.
    pub terminal: i64,
    /// User and system ticks of the process.
    pub own_ticks: u64,
    /// User and system ticks of the process and of the children that it waited for.
    pub cpu_ticks: u64,
    /// Number of threads.
    pub threads: u64,
    /// Ticks from the boot to the start of the process.
    pub start_ticks: u64,
    /// Pages of resident memory.
    pub rss_pages: u64,
    /// Addresses of the environment with which the program was started; `None` without the right to trace the process.
    pub environment: Option<Range<u64>>,
}

impl Stat {
    /// Reads the fields of a process.
    pub fn read(pid: u32) -> io::Result<Self> {
        Self::read_from(&format!("/proc/{pid}/stat"))
    }

    /// Reads the fields of the calling process.
    pub(crate) fn own() -> io::Result<Self> {
        Self::read_from("/proc/self/stat")
    }

    /// Reads the fields of a thread.
    pub(crate) fn of_thread(pid: u32, thread: u32) -> io::Result<Self> {
        Self::read_from(&format!("/proc/{pid}/task/{thread}/stat"))
    }

    fn read_from(path: &str) -> io::Result<Self> {
        Self::parse(&read(path)?).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Returns true for a zombie without other threads: the first thread of a process may end before the others.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X') && self.threads <= 1
    }

    /// Parses a line. The name, field 2, may contain spaces and parentheses, so fields count from the last
    /// parenthesis.
    fn parse(line: &str) -> Option<Self> {
        let (before, rest) = line.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let text = |number: usize| fields.get(number - 3).copied();
        let field = |number: usize| text(number)?.parse::<u64>().ok();
        let environment = field(50).zip(field(51)).map(|(first, last)| first..last);
        Some(Self {
            name: name.to_owned(),
            state: text(3)?.chars().next()?,
            parent: u32::try_from(field(4)?).ok()?,
            terminal: text(7)?.parse().ok()?,
            own_ticks: field(14)? + field(15)?,
            cpu_ticks: field(14)? + field(15)? + field(16)? + field(17)?,
            threads: field(20)?,
            start_ticks: field(22)?,
            rss_pages: field(24)?,
            environment: environment.filter(|span| 0 < span.start && !span.is_empty()),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{process::Command, thread, time::Duration};

    use super::Stat;

    const LINE: &str = "7 (a) b) S 1 7 7 0 -1 4 0 0 0 0 10 20 3 4 20 0 9 0 555 1000 77 0";

    #[test]
    fn a_line_of_stat() {
        let expected = Stat {
            name: "a) b".to_owned(),
            state: 'S',
            parent: 1,
            terminal: 0,
            own_ticks: 30,
            cpu_ticks: 37,
            threads: 9,
            start_ticks: 555,
            rss_pages: 77,
            environment: None,
        };
        assert_eq!(Stat::parse(LINE), Some(expected));
        let ended = |line: &str| Stat::parse(line).unwrap().has_ended();
        assert!(!ended(&LINE.replace(" S ", " Z ")), "others of its 9 threads run");
        assert!(ended(&LINE.replace(" S ", " Z ").replace(" 20 0 9 ", " 20 0 1 ")));
        assert_eq!(Stat::parse("7 (a"), None);
    }

    #[test]
    fn a_name_may_look_like_the_fields_behind_it() {
        let text = "7 (a) R 1 9 (x) S 1 7 7 34816 7 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.state, stat.terminal, stat.start_ticks), ('S', 34816, 4711));
        let own = Stat::own().unwrap();
        assert!(own.start_ticks <= crate::uptime_ticks().unwrap());
        assert!(own.environment.is_some());
    }

    #[test]
    fn the_place_of_the_environment() {
        let check = |first: u64, last: u64, expected| {
            let rest = format!("{LINE}{} {first} {last} 0", " 0".repeat(24));
            assert_eq!(Stat::parse(&rest).unwrap().environment, expected);
        };
        check(4096, 8192, Some(4096..8192));
        check(0, 0, None);
    }

    #[test]
    fn a_name_need_not_be_text() {
        let script = r"printf '\377) Z 1' > /proc/self/comm; read -r _";
        let mut command = Command::new("bash");
        let mut child =
            command.args(["-c", script]).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let named = |_: &u32| Stat::read(child.id()).unwrap().name == "\u{fffd}) Z 1";
        let is_named = (0..1000)
            .inspect(|_| thread::sleep(Duration::from_millis(10)))
            .any(|look| named(&look));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_named);
    }
}
