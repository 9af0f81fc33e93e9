//! Servers that misbehave, each a thread with its own way of answering. The tests show that only the requested file is
//! accepted, and that every request ends.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rabbitscope_probe::MissingDebugFile;
use tempfile::TempDir;

use super::{
    fetch::{Fetched, fetch},
    outcome::failures,
    settings::Settings,
};

/// A debug file and the build id of its code.
struct Library {
    debug: Vec<u8>,
    build_id: String,
    _directory: TempDir,
}

impl Library {
    /// Compiles source that differs for each name.
    fn compile(name: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let source = format!("int {name}(int n) {{ return n * 7; }}\n");
        fs::write(directory.path().join("a.c"), source).unwrap();
        let run = |program: &str, arguments: &[&str]| {
            let done = Command::new(program).args(arguments).current_dir(&directory).status();
            assert!(done.unwrap().success(), "{program} {arguments:?}");
        };
        run("cc", &["-g", "-shared", "-fPIC", "-Wl,--build-id", "-o", "a.so", "a.c"]);
        run("objcopy", &["--only-keep-debug", "a.so", "a.debug"]);
        let path = directory.path().join("a.debug");
        let build_id = rabbitscope_probe::build_id(&fs::File::open(&path).unwrap()).unwrap();
        Self { debug: fs::read(path).unwrap(), build_id, _directory: directory }
    }

    fn wanted(&self) -> MissingDebugFile {
        wanted("/lib/a.so", &self.build_id)
    }
}

fn wanted(path: &str, build_id: &str) -> MissingDebugFile {
    MissingDebugFile { path: path.to_owned(), build_id: build_id.to_owned(), samples: 1 }
}

/// A server on a free port, until the test program ends.
struct Server {
    url: String,
    requests: Arc<AtomicUsize>,
}

impl Server {
    /// Starts a server. `answer` gets the lines of each request's head and the connection.
    fn start(answer: impl Fn(&[String], TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let (counter, answer) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (counter, answer) = (Arc::clone(&counter), Arc::clone(&answer));
                thread::spawn(move || {
                    let lines = BufReader::new(&stream).lines().map_while(Result::ok);
                    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
                    counter.fetch_add(1, Ordering::Relaxed);
                    answer(&head, stream);
                });
            }
        });
        Self { url, requests }
    }

    /// Starts a server that answers with this status and body.
    fn with(status: &str, body: impl Into<Vec<u8>>) -> Self {
        let (status, body) = (status.to_owned(), body.into());
        Self::start(move |_, mut stream| {
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        })
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

/// A cache in a new temporary directory.
struct Place {
    cache: PathBuf,
    _owner: TempDir,
}

impl Place {
    fn new() -> Self {
        let owner = tempfile::tempdir().unwrap();
        Self { cache: owner.path().join("cache"), _owner: owner }
    }

    /// Returns the settings for these servers and further variables.
    fn settings(&self, urls: &str, variables: &[(&str, &str)]) -> Settings {
        let cache = self.cache.to_str().unwrap();
        let usual = [("DEBUGINFOD_URLS", urls), ("DEBUGINFOD_CACHE_PATH", cache)];
        let all = [variables, &usual, &[("DEBUGINFOD_TIMEOUT", "1")]].concat();
        let found = |name: &str| all.iter().find(|(other, _)| *other == name);
        Settings::from_variables(|name| found(name).map(|(_, value)| (*value).into())).unwrap()
    }

    fn fetch(&self, urls: &str, files: Vec<MissingDebugFile>) -> Fetched {
        fetch(self.settings(urls, &[]), files, &AtomicBool::new(false), &mut |_| {})
    }

    /// Returns the number of files with content and the number of notes.
    fn kept(&self) -> (usize, usize) {
        let Ok(builds) = fs::read_dir(&self.cache) else { return (0, 0) };
        let files = builds.flatten().filter_map(|build| fs::read_dir(build.path()).ok()).flatten();
        let sizes: Vec<u64> = files.map(|file| file.unwrap().metadata().unwrap().len()).collect();
        let notes = sizes.iter().filter(|&&size| size == 0).count();
        (sizes.len() - notes, notes)
    }
}

/// Checks that such a server gives nothing within seconds, that one sentence names the reason, and that the cache keeps
/// nothing.
#[track_caller]
fn check_refused(server: &Server, variables: &[(&str, &str)], expected: &str) {
    let (place, library) = (Place::new(), Library::compile("refused"));
    let began = Instant::now();
    let settings = place.settings(&server.url, variables);
    let fetched = fetch(settings, vec![library.wanted()], &AtomicBool::new(false), &mut |_| {});
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(fetched.outcomes[0].found.is_none());
    let said = failures(&fetched.outcomes);
    assert!(said.len() == 1 && said[0].contains(expected), "{said:?}");
    assert!(said[0].contains("a.so"), "{said:?}");
    assert_eq!(place.kept().0, 0);
}

#[test]
fn a_server_that_never_answers() {
    let silent = Server::start(|_, _stream| thread::sleep(Duration::from_secs(60)));
    check_refused(&silent, &[], "less than 100 KiB within 1 s");
    let place = Place::new();
    let files = vec![wanted("/a.so", "0123456789abcdef"), wanted("/b.so", "0123456789abcdee")];
    let before = silent.requests();
    let said = failures(&place.fetch(&silent.url, files).outcomes);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[1].contains("was not asked for the debug file of b.so"), "{said:?}");
    assert_eq!((silent.requests() - before, place.kept().1), (1, 0));
}

#[test]
fn a_server_that_sends_a_byte_now_and_then() {
    let slow = Server::start(|_, mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(b"x").is_ok() {
            thread::sleep(Duration::from_millis(100));
        }
    });
    check_refused(&slow, &[], "less than 100 KiB within 1 s");
    check_refused(
        &slow,
        &[("DEBUGINFOD_TIMEOUT", "0"), ("DEBUGINFOD_MAXTIME", "1")],
        "the limit of 1 s passed",
    );
}

#[test]
fn a_server_that_has_none_is_not_asked_again_for_a_while() {
    let (place, library) = (Place::new(), Library::compile("none"));
    let server = Server::with("404 Not Found", "no such file");
    for _ in 0..2 {
        let fetched = place.fetch(&server.url, vec![library.wanted()]);
        assert_eq!(failures(&fetched.outcomes).len(), 1);
    }
    assert_eq!((server.requests(), place.kept()), (1, (0, 1)));
}

#[test]
fn what_is_not_the_file_that_was_asked_for() {
    check_refused(&Server::with("200 OK", "<html>welcome</html>"), &[], "a file other than ELF");
    check_refused(&Server::with("200 OK", ""), &[], "a file other than ELF");
    let other = Library::compile("other").debug;
    check_refused(&Server::with("200 OK", other), &[], "the file of another build");
    check_refused(&Server::with("500 Oh", "sorry"), &[], "status 500");
    let no_http = Server::start(|_, mut stream| {
        let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n");
    });
    check_refused(&no_http, &[], "an answer other than HTTP");
    let in_circles = Server::start(|_, mut stream| {
        let _ = stream
            .write_all(b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n");
    });
    check_refused(&in_circles, &[], "from one server to the next");
}

#[test]
fn a_server_that_does_not_end() {
    let endless = Server::start(|_, mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n\x7fELF");
        while stream.write_all(&[7; 4096]).is_ok() {}
    });
    let small = [("DEBUGINFOD_MAXSIZE", "1000000")];
    check_refused(&endless, &small, "more than the limit of 1000000 bytes");
    let announced = Server::with("200 OK", vec![7; 1_000_001]);
    check_refused(&announced, &small, "more than the limit of 1000000 bytes");
}

#[test]
fn a_server_that_dies_in_the_middle() {
    let body = Library::compile("refused").debug;
    let dying = Server::start(move |_, mut stream| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let half = [head.as_bytes(), &body[..body.len() / 2]].concat();
        let _ = stream.write_all(&half);
    });
    check_refused(&dying, &[], "in the middle");
}

#[test]
fn nobody_listens() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = Server { url: format!("http://{free}"), requests: Arc::default() };
    check_refused(&server, &[], "could not be reached");
}

#[test]
fn what_came_is_kept_and_not_asked_for_again() {
    let (place, library) = (Place::new(), Library::compile("kept"));
    let server = Server::with("200 OK", library.debug.clone());
    for _ in 0..2 {
        let fetched = place.fetch(&server.url, vec![library.wanted()]);
        assert!(fetched.outcomes[0].found.is_some(), "{fetched:?}");
        assert_eq!(fetched.cache_problem, None);
    }
    assert_eq!((server.requests(), place.kept()), (1, (1, 0)));
    let kept = place.cache.join(&library.build_id).join("debuginfo");
    assert_eq!(fs::read(&kept).unwrap(), library.debug);
    // Another program has replaced the cached file.
    fs::remove_file(&kept).unwrap();
    fs::write(&kept, Library::compile("other").debug).unwrap();
    let fetched = place.fetch(&server.url, vec![library.wanted()]);
    assert!(fetched.outcomes[0].found.is_some(), "{fetched:?}");
    let said = failures(&fetched.outcomes);
    assert!(said[0].contains("the cache") && said[0].contains("another build"), "{said:?}");
    assert_eq!((server.requests(), fs::read(&kept).unwrap()), (2, library.debug));
}

#[test]
fn a_server_after_one_that_has_none() {
    let (place, library) = (Place::new(), Library::compile("second"));
    let (first, second) =
        (Server::with("404 No", ""), Server::with("200 OK", library.debug.clone()));
    let fetched = place.fetch(&format!("{} {}", first.url, second.url), vec![library.wanted()]);
    assert!(fetched.outcomes[0].found.is_some(), "{fetched:?}");
}

#[test]
fn a_cache_that_cannot_be_used_costs_no_names() {
    let (place, library) = (Place::new(), Library::compile("uncached"));
    let server = Server::with("200 OK", library.debug.clone());
    std::os::unix::fs::symlink("/", &place.cache).unwrap();
    let fetched = place.fetch(&server.url, vec![library.wanted()]);
    assert!(fetched.outcomes[0].found.is_some(), "{fetched:?}");
    assert!(fetched.cache_problem.unwrap().contains("the cache is not used"));
    assert!(!Path::new("/").join(&library.build_id).exists());
}

#[test]
fn a_login_is_sent_to_its_server_alone() {
    let (place, library) = (Place::new(), Library::compile("login"));
    let body = library.debug.clone();
    let target = Server::start(move |head, mut stream| {
        let is_private = !head.iter().any(|line| line.to_lowercase().starts_with("authorization"));
        let status = if is_private { "200 OK" } else { "403 No" };
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
        let _ = stream.write_all(&[head.as_bytes(), &body].concat());
    });
    let location = format!("{}/x", target.url.replace("127.0.0.1", "localhost"));
    let first = Server::start(move |head, mut stream| {
        let has_login = head.iter().any(|line| line.ends_with("Basic dTpw"));
        let status = if has_login { "302 Found" } else { "401 No" };
        let head =
            format!("HTTP/1.1 {status}\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
        let _ = stream.write_all(head.as_bytes());
    });
    let url = first.url.replace("http://", "http://u:p@");
    let fetched = place.fetch(&url, vec![library.wanted()]);
    assert!(fetched.outcomes[0].found.is_some(), "{fetched:?}");
}

#[test]
fn somebody_who_does_not_want_to_wait() {
    let silent = Server::start(|_, _stream| thread::sleep(Duration::from_secs(60)));
    let (place, stop) = (Place::new(), Arc::new(AtomicBool::new(false)));
    let settings = place.settings(&silent.url, &[("DEBUGINFOD_TIMEOUT", "50")]);
    let (began, told) = (Instant::now(), Arc::clone(&stop));
    let files = vec![wanted("/a.so", "0123456789abcdef"), wanted("/b.so", "0123456789abcdee")];
    let fetched = fetch(settings, files, &stop, &mut |progress| {
        // The thread may already have reported that it stopped.
        if !told.swap(true, Ordering::Relaxed) {
            assert_eq!((progress.done, progress.all, progress.next), (0, 2, "a.so"));
        }
    });
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    let said = failures(&fetched.outcomes);
    assert_eq!(said, ["debuginfod: stopped before a debug file of a.so, b.so arrived"]);
}
