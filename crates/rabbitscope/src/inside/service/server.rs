//! The server: takes connections, lets in who may come, and answers.

use std::{
    io::{self, BufReader},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::Context;
use rabbitscope_data::units::parse_duration;
use rabbitscope_erlang::{ConnectOptions, Connection};

use super::{
    Guard,
    http::{Request, Response, read_request},
    readings::Readings,
};
use crate::{
    exit::UsageError,
    inside::{Listing, Page, Shown, SortKey, Wanted, prometheus},
};

/// Connections that are served at a time; who comes beyond them is told so.
const MOST_CONNECTIONS: usize = 128;

/// A little more than a queue takes as JSON.
const ROW_BYTES: usize = 192;

/// A client that says nothing for so long is no longer waited for.
const IDLE: Duration = Duration::from_secs(75);

/// How soon Ctrl-C is heeded.
const POLL: Duration = Duration::from_millis(50);

/// A server that has its address.
#[derive(Debug)]
pub(crate) struct Service {
    listener: TcpListener,
    guard: Guard,
}

impl Service {
    /// Takes the address. Who may come from other machines has to say who they are.
    pub(crate) fn bind(address: SocketAddr, guard: Guard) -> anyhow::Result<Self> {
        if matches!(guard, Guard::Open) && !address.ip().is_loopback() {
            let wrong = format!(
                "{address} can be reached from other machines; give --auth-file, or listen on 127.0.0.1"
            );
            return Err(UsageError(wrong).into());
        }
        let listener =
            TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
        Ok(Self { listener, guard })
    }

    /// The address, with the port that was free if it was to be any.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is asked to stop. What is on the node goes with the connection.
    pub(crate) fn run(
        self,
        connection: Connection,
        options: ConnectOptions,
        stop: &AtomicBool,
    ) -> anyhow::Result<()> {
        let readings = Readings::start(connection, options);
        // The first client does not wait for the compiler on the node.
        readings.next(Duration::ZERO).map_err(anyhow::Error::msg)?;
        thread::spawn(move || self.accept(&readings));
        while !stop.load(Ordering::Relaxed) {
            thread::sleep(POLL);
        }
        Ok(())
    }

    fn accept(&self, readings: &Readings) {
        let served = Arc::new(AtomicUsize::new(0));
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => self.serve(stream, readings, &served),
                // A client that went away again, or no descriptors for now.
                Err(_) => thread::sleep(POLL),
            }
        }
    }

    fn serve(&self, stream: TcpStream, readings: &Readings, served: &Arc<AtomicUsize>) {
        let (guard, readings, served) = (self.guard.clone(), readings.clone(), Arc::clone(served));
        if served.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
            served.fetch_sub(1, Ordering::Relaxed);
            let busy = Response::text("503 Service Unavailable", "too many connections");
            let _ = busy.write(&mut &stream, false);
            return;
        }
        thread::spawn(move || {
            // A client's broken connection is the client's affair.
            let _ = converse(&stream, &guard, &readings);
            served.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

fn converse(stream: &TcpStream, guard: &Guard, readings: &Readings) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(IDLE))?;
    stream.set_write_timeout(Some(IDLE))?;
    let mut input = BufReader::new(stream);
    loop {
        let request = match read_request(&mut input) {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                let answer = Response::text("400 Bad Request", &error.to_string());
                return answer.write(&mut &*stream, false);
            }
            Err(error) => return Err(error),
        };
        respond(&request, guard, readings).write(&mut &*stream, request.keep_alive)?;
        if !request.keep_alive {
            return Ok(());
        }
    }
}

fn respond(request: &Request, guard: &Guard, readings: &Readings) -> Response {
    if !guard.lets_in(request.authorization.as_deref()) {
        return Response::text("401 Unauthorized", "a token or a user and a password are needed");
    }
    if request.method != "GET" {
        return Response::text("405 Method Not Allowed", "only GET");
    }
    let answer: fn(&Shown<'_>) -> Response = match request.path.as_str() {
        "/queues" => as_json,
        "/metrics" => as_prometheus,
        _ => return Response::text("404 Not Found", "there are /queues and /metrics"),
    };
    let question = match Question::parse(&request.query) {
        Ok(question) => question,
        Err(wrong) => return Response::text("400 Bad Request", &wrong),
    };
    match readings.next(question.max_age) {
        Ok(listing) => answer_unless_known(&listing, &question, request, answer),
        Err(reason) => Response::text("503 Service Unavailable", &reason),
    }
}

/// What is wanted of all queues.
#[derive(Debug, PartialEq, Eq)]
struct Question {
    wanted: Wanted,
    sort: SortKey,
    page: Page,
    /// How old the look may be when the question comes.
    max_age: Duration,
}

impl Question {
    fn parse(query: &[(String, String)]) -> Result<Self, String> {
        let mut question = Self {
            wanted: Wanted::default(),
            sort: SortKey::Name,
            page: Page { number: 1, size: None },
            max_age: Duration::ZERO,
        };
        for (key, value) in query {
            let number = || match value.parse() {
                Ok(0) | Err(_) => Err(format!("{key} has to be a number of 1 or more")),
                Ok(number) => Ok(number),
            };
            match key.as_str() {
                "vhost" => question.wanted.vhost = Some(value.clone()),
                "name" => question.wanted.name = Some(value.clone()),
                "sort" => {
                    question.sort = SortKey::parse(value)
                        .ok_or("sort has to be name, ready, unacknowledged, consumers or memory")?;
                }
                "page" => question.page.number = number()?,
                "page-size" => question.page.size = Some(number()?),
                "max-age" => {
                    question.max_age = parse_duration(value)
                        .map_err(|_| "max-age has to be a time, such as 2s")?;
                }
                _ => {
                    return Err(format!(
                        "{key} is none of vhost, name, sort, page, page-size, max-age"
                    ));
                }
            }
        }
        Ok(question)
    }
}

fn answer_unless_known(
    listing: &Listing,
    question: &Question,
    request: &Request,
    answer: fn(&Shown<'_>) -> Response,
) -> Response {
    let shown = listing.shown(&question.wanted, question.sort, question.page);
    let tag = shown.tag();
    if request.knows(&tag) { Response::not_modified(tag) } else { answer(&shown).with_tag(tag) }
}

fn as_json(shown: &Shown<'_>) -> Response {
    let mut body = Vec::with_capacity(ROW_BYTES * (shown.queues.len() + 1));
    match serde_json::to_writer(&mut body, shown) {
        Ok(()) => Response::found("application/json", body),
        Err(error) => Response::text("500 Internal Server Error", &error.to_string()),
    }
}

fn as_prometheus(shown: &Shown<'_>) -> Response {
    let body = prometheus(&shown.queues, shown.unanswered.len()).into_bytes();
    Response::found("text/plain; version=0.0.4; charset=utf-8", body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions() {
        fn check(key: &str, value: &str, expected: bool) {
            let query = [(key.to_owned(), value.to_owned())];
            assert_eq!(Question::parse(&query).is_ok(), expected, "{key}={value}");
        }
        check("vhost", "/", true);
        check("sort", "memory", true);
        check("sort", "colour", false);
        check("page", "2", true);
        check("page", "0", false);
        check("page-size", "x", false);
        check("max-age", "500ms", true);
        check("max-age", "5", false);
        check("nonsense", "", false);
    }

    #[test]
    fn other_machines_need_a_guard() {
        let everywhere = SocketAddr::from(([0, 0, 0, 0], 0));
        assert!(Service::bind(everywhere, Guard::Open).is_err());
        let here = SocketAddr::from(([127, 0, 0, 1], 0));
        assert!(Service::bind(here, Guard::Open).unwrap().address().unwrap().port() > 0);
    }
}
