//! Accepts connections, lets hyper speak HTTP on them, and passes requests with access to the handler.

use std::{
    convert::Infallible,
    future::poll_fn,
    io::{self, ErrorKind, Write},
    net::IpAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use hyper::{body::Incoming, server::conn::http1::Builder, service::service_fn};
use tokio::{
    net::{TcpListener, TcpStream},
    task::{spawn_blocking, spawn_local, yield_now},
    time::{sleep, timeout},
};

use super::{
    Limits, Request, Response, Status,
    access::Access,
    connection::{Connection, Connections, Socket},
    request::{MAX_HEAD_BYTES, MAX_HEADERS},
    response::Body,
};

/// Pause after an accept that failed because all file descriptors were in use.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Makes the response to a request. May block.
pub(crate) type Handler = dyn Fn(&Request) -> Response + Send + Sync;

/// Everything that the connections of a server share.
pub(crate) struct Service {
    access: Access,
    connections: Connections,
    handler: Arc<Handler>,
}

impl Service {
    pub(crate) fn new(access: Access, limits: Limits, handler: Arc<Handler>) -> Self {
        Self { access, connections: Connections::new(limits), handler }
    }

    /// Accepts connections without end, each in a task of its own.
    pub(crate) async fn accept_all(self: &Rc<Self>, listener: TcpListener) {
        for key in 0.. {
            match listener.accept().await {
                Ok((stream, _)) if !self.connections.can_take_one() => refuse(stream),
                Ok((stream, peer)) => {
                    // A connection that cannot be set up is closed.
                    let _ = self.take(key, stream, peer.ip()).await;
                }
                Err(error) if went_away(&error) => {}
                Err(_) => sleep(ACCEPT_RETRY_INTERVAL).await,
            }
        }
    }

    /// Takes a new connection, and closes others if the server is full. First lets it advance: most clients have sent
    /// their request by now, and then stay.
    async fn take(self: &Rc<Self>, key: u64, stream: TcpStream, peer: IpAddr) -> io::Result<()> {
        // A response must not wait for the acknowledgement of the one before.
        stream.set_nodelay(true)?;
        let connection = Rc::new(Connection::new(peer, stream.local_addr()?.ip()));
        let socket = Socket::new(stream, Rc::clone(&connection));
        let serving = Rc::clone(self).serve(key, socket, Rc::clone(&connection));
        let task = spawn_local(serving);
        self.connections.insert(key, connection, task.abort_handle());
        // Its first turn reads a request that has already come. A second turn could end it, and nothing would make room.
        yield_now().await;
        self.connections.make_room(key);
        Ok(())
    }

    /// Serves a connection until its end or a deadline.
    async fn serve(self: Rc<Self>, key: u64, socket: Socket, connection: Rc<Connection>) {
        let limits = self.connections.limits();
        let (service, state) = (&*self, &connection);
        let answering = service_fn(move |request| {
            Box::pin(async move { Ok::<_, Infallible>(service.respond(key, state, request).await) })
        });
        let mut http = http().serve_connection(socket, answering);
        let spoken = poll_fn(|context| http.poll_without_shutdown(context));
        if connection.in_time(limits, spoken).await.is_some() {
            // Even after an error: hyper may have sent a refusal.
            connection.left();
            connection.in_time(limits, http.into_parts().io.leave()).await;
        }
        self.connections.close(key);
    }

    async fn respond(
        &self,
        key: u64,
        connection: &Rc<Connection>,
        request: hyper::Request<Incoming>,
    ) -> hyper::Response<Body> {
        connection.asked();
        let (head, _) = request.into_parts();
        let answered = match self.access.admitted(&head, connection.local()) {
            Ok(request) => self.answer(request).await,
            Err(refusal) => refusal.closing(),
        };
        let answered = self.bounded(answered);
        connection.answered(answered.size());
        self.connections.free_memory(key);
        answered.into_http(Rc::clone(connection))
    }

    /// Runs the handler, on a thread that may block.
    async fn answer(&self, request: Request) -> Response {
        let handler = Arc::clone(&self.handler);
        let work = move || handler(&request);
        // The start of a thread may fail, which tokio turns into a panic.
        let Ok(work) = catch_unwind(AssertUnwindSafe(|| spawn_blocking(work))) else {
            return unavailable("no thread is available for the answer");
        };
        match timeout(self.connections.limits().answer, work).await {
            Ok(Ok(response)) => response,
            Ok(Err(_)) => Response::text(Status::INTERNAL, "the answer could not be made"),
            Err(_) => unavailable("the answer takes too long"),
        }
    }

    fn bounded(&self, response: Response) -> Response {
        if response.is_stream() && !self.connections.can_take_viewer() {
            return unavailable("too many viewers at a time");
        }
        response
    }
}

fn unavailable(reason: &str) -> Response {
    Response::text(Status::UNAVAILABLE, reason).closing()
}

/// Returns hyper's options. The deadlines are those of [`Connection`]: hyper's own for heads also runs between requests.
fn http() -> Builder {
    let mut http = Builder::new();
    http.max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        // A client may end its own direction after the request.
        .half_close(true)
        .title_case_headers(true)
        .auto_date_header(false);
    http
}

/// Returns true if the accept was interrupted, or the client left before it.
fn went_away(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted)
}

/// Refuses a client while handlers make responses for all connections. The reason is sent if the socket takes it at
/// once.
fn refuse(stream: TcpStream) {
    let body = "too many requests at a time\n";
    let head = format!("HTTP/1.1 503 Service Unavailable\r\nContent-Length: {}\r\n", body.len());
    if let Ok(mut stream) = stream.into_std() {
        let _ = stream.write(format!("{head}Connection: close\r\n\r\n{body}").as_bytes());
    }
}
