//! A relay between a removal and the broker: an application publishes a message before one of the removal's frames.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use rabbitscope_amqp::{Event, Properties, Reply, Request, Table, blocking::Client};
use rabbitscope_testing::{connect, durable_queue};

const HEADER_BYTES: usize = 8;
const FRAME_HEAD_BYTES: usize = 7;

/// An application with its own connection.
pub(crate) struct Application {
    client: Client,
    channel: u16,
}

impl Application {
    pub(crate) fn new(uri: &str) -> Self {
        let (mut client, channel) = connect(uri);
        client.call(channel, &Request::ConfirmSelect).unwrap();
        Self { client, channel }
    }

    /// Returns the number of messages in a queue; absent if the queue does not exist.
    pub(crate) fn messages(&mut self, queue: &str) -> Option<u32> {
        let none = Table::default();
        let passive = durable_queue(queue, true, &none);
        let channel = self.client.open_channel().unwrap();
        let answer = self.client.call(channel, &passive);
        match answer {
            Ok(Reply::QueueDeclared { messages, .. }) => {
                self.client.end_channel(channel);
                Some(messages)
            }
            _ => None,
        }
    }

    /// Publishes a message and waits for the broker's confirm. Returns false if the queue does not exist.
    pub(crate) fn publish(&mut self, queue: &str) -> bool {
        if self.messages(queue).is_none() {
            return false;
        }
        self.client.publish(self.channel, queue, &Properties::default(), b"of an application");
        self.client
            .wait(|event| match event {
                Event::Confirm { accepted, .. } => Some(Ok(accepted)),
                _ => None,
            })
            .unwrap()
    }

    pub(crate) fn delete(&mut self, queue: &str) {
        let delete = Request::QueueDelete { queue, if_unused: false, if_empty: false };
        self.client.call(self.channel, &delete).unwrap();
    }
}

/// The frame before which the application publishes.
struct Plan {
    application: Application,
    queue: String,
    /// Frames left before the application publishes; absent without a plan, and after it has published.
    left: Option<usize>,
    has_published: bool,
}

/// The relay that forwards frames.
#[derive(Clone)]
pub(crate) struct Stepping {
    pub(crate) address: SocketAddr,
    plan: Arc<Mutex<Plan>>,
}

impl Stepping {
    pub(crate) fn start(broker: SocketAddr, application: Application) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (queue, has_published) = (String::new(), false);
        let plan = Plan { application, queue, left: None, has_published };
        let stepping = Self { address, plan: Arc::new(Mutex::new(plan)) };
        let handing = stepping.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                let broker = TcpStream::connect(broker).unwrap();
                broker.set_nodelay(true).unwrap();
                client.set_nodelay(true).unwrap();
                let (mut answers, mut to_client) =
                    (broker.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || std::io::copy(&mut answers, &mut to_client));
                let handing = handing.clone();
                thread::spawn(move || {
                    let ending = broker.try_clone().unwrap();
                    handing.hand_on(client, broker);
                    // The broker then sees the end of a killed program.
                    ending.shutdown(Shutdown::Both).ok();
                });
            }
        });
        stepping
    }

    fn hand_on(&self, mut from: TcpStream, mut to: TcpStream) -> Option<()> {
        let mut header = [0; HEADER_BYTES];
        from.read_exact(&mut header).ok()?;
        to.write_all(&header).ok()?;
        loop {
            let mut frame = vec![0; FRAME_HEAD_BYTES];
            from.read_exact(&mut frame).ok()?;
            let size = u32::from_be_bytes(*frame.last_chunk().unwrap()) as usize;
            frame.resize(FRAME_HEAD_BYTES + size + 1, 0);
            from.read_exact(&mut frame[FRAME_HEAD_BYTES..]).ok()?;
            self.step();
            to.write_all(&frame).ok()?;
        }
    }

    fn step(&self) {
        let mut plan = self.plan.lock().unwrap();
        match plan.left {
            Some(0) => {
                plan.left = None;
                let queue = plan.queue.clone();
                plan.has_published = plan.application.publish(&queue);
            }
            Some(left) => plan.left = Some(left - 1),
            None => {}
        }
    }

    /// Makes the application publish to `queue` before the frame with this number.
    pub(crate) fn publish_before(&self, frame: usize, queue: &str) {
        let mut plan = self.plan.lock().unwrap();
        (plan.left, plan.queue, plan.has_published) = (Some(frame), queue.to_owned(), false);
    }

    /// Returns whether the application published, and whether a frame with that number was sent at all.
    pub(crate) fn outcome(&self) -> (bool, bool) {
        let mut plan = self.plan.lock().unwrap();
        (plan.has_published, plan.left.take().is_none())
    }

    pub(crate) fn application<T>(&self, ask: impl FnOnce(&mut Application) -> T) -> T {
        ask(&mut self.plan.lock().unwrap().application)
    }
}
