//! The threads that run the handler. They have no sockets, so no client can block one.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread,
};

use mio::Waker;

use super::{Request, Response, Status};

/// Makes the response to a request. May block.
pub(crate) type Handler = dyn Fn(&Request) -> Response + Send + Sync;

/// A response, and the key of its connection.
pub(crate) type Answer = (usize, Response);

/// Threads that start on demand. After the drop of this value each ends with the response that it makes; nothing
/// waits for that.
pub(crate) struct Workers {
    requests: Sender<(usize, Request)>,
    waiting: Arc<Mutex<Receiver<(usize, Request)>>>,
    handler: Arc<Handler>,
    answers: Sender<Answer>,
    waker: Arc<Waker>,
    started: usize,
    unanswered: usize,
    most: usize,
}

impl Workers {
    pub(crate) fn new(
        most: usize,
        handler: Arc<Handler>,
        answers: Sender<Answer>,
        waker: Arc<Waker>,
    ) -> Self {
        let (requests, waiting) = mpsc::channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let (started, unanswered) = (0, 0);
        Self { requests, waiting, handler, answers, waker, started, unanswered, most }
    }

    /// Passes a request to a worker. Returns false if there is none and none can start.
    pub(crate) fn hand_over(&mut self, key: usize, request: Request) -> bool {
        if self.unanswered >= self.started && self.started < self.most && self.start_one() {
            self.started += 1;
        }
        let is_taken = self.started > 0 && self.requests.send((key, request)).is_ok();
        self.unanswered += usize::from(is_taken);
        is_taken
    }

    /// Notes that a response has arrived.
    pub(crate) fn answered(&mut self) {
        self.unanswered -= 1;
    }

    fn start_one(&self) -> bool {
        let (waiting, handler) = (Arc::clone(&self.waiting), Arc::clone(&self.handler));
        let (answers, waker) = (self.answers.clone(), Arc::clone(&self.waker));
        let thread = thread::Builder::new().name("http-worker".to_owned());
        let work = move || {
            while let Some((key, request)) = next(&waiting) {
                if answers.send((key, answer(&*handler, &request))).is_err() {
                    return;
                }
                let _ = waker.wake();
            }
        };
        thread.spawn(work).is_ok()
    }
}

/// Waits for the next request. Returns `None` when there will be no more.
fn next(waiting: &Mutex<Receiver<(usize, Request)>>) -> Option<(usize, Request)> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// Runs the handler. A panic also becomes a response, so no connection is left without one.
fn answer(handler: &Handler, request: &Request) -> Response {
    catch_unwind(AssertUnwindSafe(|| handler(request)))
        .unwrap_or_else(|_| Response::text(Status::INTERNAL, "the answer could not be made"))
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { started, unanswered, most, .. } = self;
        write!(f, "Workers({unanswered} unanswered, {started} of {most} threads)")
    }
}
