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

/// What a client does, and the server on the other side.
#[derive(Clone, Copy)]
enum Scene {
    /// Small requests and replies.
    Requests,
    /// Much data to the server.
    Bulk,
    /// Much data to the client.
    BulkBack,
    /// More than the server takes, which reads nothing for a while.
    SlowReader,
    /// Many small writes that are not held back.
    SmallWrites,
    /// The server closes while data waits for it.
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

/// Why no capture can be made here.
pub(crate) fn cannot_capture() -> Option<String> {
    let is_root = std::fs::metadata("/proc/self")
        .is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0);
    missing(&["tcpdump"]).or_else(|| (!is_root).then(|| "capturing needs root".to_owned()))
}

/// Lets clients and a server talk and captures that into a file.
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

/// Returns when tcpdump listens.
pub(crate) fn start_capture(file: &Path, port: u16) -> Child {
    let arguments = format!("-i lo -s 0 -B 32768 --immediate-mode -U -Z root tcp port {port} -w");
    let mut capture =
        command("tcpdump", &arguments, &[file]).stderr(Stdio::piped()).spawn().unwrap();
    let mut says = BufReader::new(capture.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("listening on") {
        line.clear();
        assert!(says.read_line(&mut line).unwrap() > 0, "tcpdump ended");
    }
    // What it says at its end has to go somewhere.
    thread::spawn(move || std::io::copy(&mut says, &mut std::io::sink()));
    capture
}

pub(crate) fn stop_capture(mut capture: Child) {
    // The last packets are still on their way to it.
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

/// Sends requests, each in these writes, and waits for a reply of ten bytes each.
fn ask(stream: &mut TcpStream, count: usize, writes: &[&[u8]]) {
    for _ in 0..count {
        for bytes in writes {
            stream.write_all(bytes).unwrap();
        }
        stream.read_exact(&mut [0; 10]).unwrap();
    }
}

/// Replies to each 90 bytes.
fn answer(stream: &mut TcpStream) {
    while stream.read_exact(&mut [0; 90]).is_ok() {
        stream.write_all(&[7; 10]).unwrap();
    }
}
