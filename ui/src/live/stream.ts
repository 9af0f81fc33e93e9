// One stream of events for all tabs of a browser, which permits six connections to a server. The tab that holds a lock
// has the stream and tells the others.

/** An event of the server as text. */
export interface LiveEvent {
  name: "head" | "tick" | "end";
  text: string;
}

export interface Receiver {
  /** Takes an event. One may come twice. */
  receive(event: LiveEvent): void;
  /** Resolves when the page needs its server no longer. */
  readonly done: Promise<void>;
  /** Notes the start of a loss of connection, in milliseconds since 1970; null at its end. */
  lost(since: number | null): void;
  /** Returns the events that a new tab needs. */
  known(): LiveEvent[];
}

type Message =
  | { kind: "event"; event: LiveEvent }
  | { kind: "lost"; since: number | null }
  | { kind: "ask"; tab: string }
  | { kind: "answer"; tab: string; events: LiveEvent[]; since: number | null };

const NAMES = ["head", "tick", "end"] as const;

/** Milliseconds after which a stream that the server has refused is tried again. */
const RETRY = 3000;

/** Milliseconds that the stream stays open after the end. The server waits for it, and other tabs need the report. */
const GRACE = 1000;

/** Hands the events of this page's server to a receiver. */
export function follow(receiver: Receiver): void {
  new Stream(receiver).start();
}

class Stream {
  private readonly name = `rabbitscope ${location.pathname}`;
  private readonly channel = new BroadcastChannel(this.name);
  private readonly tab = String(Math.random());
  private isLeader = false;
  private isEnded = false;
  private since: number | null = null;

  constructor(private readonly receiver: Receiver) {}

  start(): void {
    this.channel.onmessage = ({ data }: MessageEvent<Message>) => this.hear(data);
    if (!navigator.locks) {
      this.lead();
      return;
    }
    this.channel.postMessage({ kind: "ask", tab: this.tab } satisfies Message);
    const lead = (): Promise<void> => {
      this.lead();
      // The lock is held as long as the tab is open.
      return new Promise(() => {});
    };
    void navigator.locks.request(this.name, lead);
  }

  private hear(message: Message): void {
    const { receiver } = this;
    if (message.kind === "event") this.take(message.event);
    else if (message.kind === "lost") receiver.lost(message.since);
    else if (message.kind === "answer" && message.tab === this.tab) {
      message.events.forEach((event) => this.take(event));
      receiver.lost(message.since);
    } else if (message.kind === "ask" && this.isLeader) {
      this.channel.postMessage({ kind: "answer", tab: message.tab, events: receiver.known(), since: this.since } satisfies Message);
    }
  }

  private take(event: LiveEvent): void {
    this.isEnded ||= event.name === "end";
    this.receiver.receive(event);
  }

  /** Opens the stream of the server. */
  private lead(): void {
    this.isLeader = true;
    if (this.isEnded) return;
    const source = new EventSource("events");
    for (const name of NAMES) {
      source.addEventListener(name, ({ data }: MessageEvent<string>) => {
        const event: LiveEvent = { name, text: data };
        this.take(event);
        this.channel.postMessage({ kind: "event", event } satisfies Message);
      });
    }
    void this.receiver.done.then(() => setTimeout(() => source.close(), GRACE));
    source.addEventListener("open", () => this.lose(null));
    source.addEventListener("error", () => {
      if (this.isEnded) return;
      this.lose(this.since ?? Date.now());
      if (source.readyState === EventSource.CLOSED) setTimeout(() => this.lead(), RETRY);
    });
  }

  private lose(since: number | null): void {
    this.since = since;
    this.receiver.lost(since);
    this.channel.postMessage({ kind: "lost", since } satisfies Message);
  }
}
