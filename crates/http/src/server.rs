//! The thread that owns all sockets and blocks on none of them. hyper speaks HTTP on them.

use std::{
    future::{Future, poll_fn},
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    rc::Rc,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver},
    },
    thread,
    time::Duration,
};

use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
    sync::oneshot,
    task::LocalSet,
};

use super::{Limits, Listener, Request, Response, service::Service};

/// Timeout for the end of the thread, longer than a turn of the loop. If the machine hangs, the thread ends later.
const END_TIMEOUT: Duration = Duration::from_millis(500);

/// A running server. Dropping it frees the address and discards unsent responses.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    /// Its drop ends the thread.
    stop: Option<oneshot::Sender<()>>,
    /// Locked so that threads can share the server; only its drop waits.
    ended: Mutex<Receiver<()>>,
}

impl Server {
    /// Starts a server that answers with the result of `handler`, on threads of its own.
    pub fn start(
        listener: Listener,
        limits: Limits,
        handler: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let Listener { socket, access } = listener;
        let address = socket.local_addr()?;
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(limits.workers)
            .thread_name("http-worker")
            .build()?;
        let listener = {
            let _entered = runtime.enter();
            TcpListener::from_std(socket)?
        };
        let (stop, stopped) = oneshot::channel();
        let (ending, ended) = mpsc::channel::<()>();
        let handler = Arc::new(handler);
        thread::Builder::new().name("http".to_owned()).spawn(move || {
            let service = Rc::new(Service::new(access, limits, handler));
            run(runtime, &service, listener, stopped);
            drop(ending);
        })?;
        Ok(Self { address, stop: Some(stop), ended: Mutex::new(ended) })
    }

    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = ended.recv_timeout(END_TIMEOUT);
    }
}

/// Serves until `stopped`. Afterwards no client and no handler is waited for.
fn run(
    runtime: Runtime,
    service: &Rc<Service>,
    listener: TcpListener,
    mut stopped: oneshot::Receiver<()>,
) {
    let tasks = LocalSet::new();
    let serving = async {
        let mut accepting = pin!(service.accept_all(listener));
        poll_fn(|context| {
            // Never ends by itself.
            let _ = accepting.as_mut().poll(context);
            Pin::new(&mut stopped).poll(context).map(drop)
        })
        .await;
    };
    tasks.block_on(&runtime, serving);
    drop(tasks);
    runtime.shutdown_background();
}
