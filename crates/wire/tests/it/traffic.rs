//! Real connections on the loopback, captured by tcpdump.

use std::{
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use crate::tools::{command, missing};

const BULK_BYTES: usize = 4 << 20;
const PAUSE: Duration = Duration::from_millis(400);

/// The behaviour of a client and its server.
#[derive(Clone, Copy)]
enum Scene {
    /// Small requests and replies.
    Requests,
    /// Bulk data to the server.
    Bulk,
    /// Bulk data to the client.
    BulkBack,
    /// More data than the server accepts, which reads nothing for a while.
    SlowReader,
    /// Many small writes that are not delayed.
    SmallWrites,
    /// The server closes with unread data.
    Abort,
    /// Requests in two writes each.
    TwoWrites,
}

const SCENES: [Scene; 7] = [
    Scene::Requests,
    Scene::Bulk,
    Scene::BulkBack,
    Scene::SlowReader,
    Scene::SmallWrites,
    Scene::Abort,
    Scene::TwoWrites,
];

/// Returns the reason why no capture can be made here, if any.
pub(crate) fn cannot_capture() -> Option<String> {
    let is_root = std::fs::metadata("/proc/self")
        .is_ok_and(|metadata| std::os::unix::fs::MetadataExt::uid(&metadata) == 0);
    missing(&["tcpdump"]).or_else(|| (!is_root).then(|| "capturing needs root".to_owned()))
}

/// Runs the scenes between clients and a server, and captures them into a file.
pub(crate) fn capture_into(file: &Path) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let capture = start_capture(file, port);
    for scene in SCENES {
        let client = thread::spawn(move || {
            let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            play_client(scene, stream);
        });
        play_server(scene, listener.accept().unwrap().0);
        client.join().unwrap();
    }
    stop_capture(capture);
}

/// Starts tcpdump and returns when it listens. Its buffer has room for all packets of the scenes, each of up to 64 KiB:
/// a busy machine lets tcpdump wait for longer than a scene takes.
pub(crate) fn start_capture(file: &Path, port: u16) -> Child {
    let arguments =
        format!("-i lo -s 66000 -B 131072 --immediate-mode -U -Z root tcp port {port} -w");
    let mut capture =
        command("tcpdump", &arguments, &[file]).stderr(Stdio::piped()).spawn().unwrap();
    let mut says = BufReader::new(capture.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("listening on") {
        line.clear();
        assert!(says.read_line(&mut line).unwrap() > 0, "tcpdump ended");
    }
    // Its final output needs a reader.
    thread::spawn(move || std::io::copy(&mut says, &mut std::io::sink()));
    capture
}

pub(crate) fn stop_capture(mut capture: Child) {
    // The last packets have not reached tcpdump yet.
    thread::sleep(PAUSE);
    let pid = capture.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert!(capture.wait().unwrap().success());
}

fn play_client(scene: Scene, mut stream: TcpStream) {
    match scene {
        Scene::Requests => ask(&mut stream, 200, &[&[1; 90]]),
        Scene::Bulk | Scene::SlowReader => stream.write_all(&vec![2; BULK_BYTES]).unwrap(),
        Scene::BulkBack => drop(stream.read_to_end(&mut Vec::new()).unwrap()),
        Scene::SmallWrites => {
            stream.set_nodelay(true).unwrap();
            (0..3000).for_each(|_| stream.write_all(&[3; 200]).unwrap());
        }
        Scene::Abort => {
            stream.write_all(&[4; 1000]).unwrap();
            let end = stream.read(&mut [0; 1]);
            assert!(end.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));
        }
        Scene::TwoWrites => ask(&mut stream, 30, &[&[5; 40], &[5; 50]]),
    }
}

fn play_server(scene: Scene, mut stream: TcpStream) {
    match scene {
        Scene::Requests | Scene::TwoWrites => answer(&mut stream),
        Scene::Bulk | Scene::SmallWrites => drop(stream.read_to_end(&mut Vec::new()).unwrap()),
        Scene::BulkBack => stream.write_all(&vec![6; BULK_BYTES]).unwrap(),
        Scene::SlowReader => {
            thread::sleep(PAUSE);
            stream.read_to_end(&mut Vec::new()).unwrap();
        }
        Scene::Abort => thread::sleep(PAUSE / 4),
    }
}

/// Sends `count` requests, each in these writes, and waits for a reply of ten bytes to each.
fn ask(stream: &mut TcpStream, count: usize, writes: &[&[u8]]) {
    for _ in 0..count {
        for bytes in writes {
            stream.write_all(bytes).unwrap();
        }
        stream.read_exact(&mut [0; 10]).unwrap();
    }
}

/// Replies to every 90 bytes.
fn answer(stream: &mut TcpStream) {
    while stream.read_exact(&mut [0; 90]).is_ok() {
        stream.write_all(&[7; 10]).unwrap();
    }
}
