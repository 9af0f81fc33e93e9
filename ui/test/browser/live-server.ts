// A server of live pages for tests: the transport alone. Pages and profiles are those that the test of crates/web wrote.

import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";

const FOLDER = process.env["RABBITSCOPE_PAGES"] as string;

export function file(name: string): string {
  return readFileSync(join(FOLDER, name), "utf8");
}

export class LiveServer {
  /** The bodies by path. `profile.json` is the whole, `profile.json?seconds=30` the latest part. */
  readonly bodies = new Map<string, string>([["", file("live.html")]]);
  /** All requests but those for events. */
  readonly asked: string[] = [];
  readonly viewers = new Set<ServerResponse>();
  /** Streams that were opened so far. */
  streams = 0;
  private readonly events: string[] = [];
  private readonly sockets = new Set<Socket>();
  private server: Server | null = null;
  private port = 0;

  constructor(private head: unknown) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}/secret/`;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => this.answer(request, response));
    // A test that fails leaves its server behind, which must not keep the process alive.
    server.unref();
    server.on("connection", (socket) => {
      socket.unref();
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket));
    });
    await new Promise<void>((done) => server.listen(this.port, "127.0.0.1", done));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  /** Ends all connections and refuses new ones. */
  async stop(): Promise<void> {
    const closed = new Promise((done) => this.server?.close(done));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  send(name: string, data: unknown): void {
    const event = `id: ${this.events.length}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
    this.events.push(event);
    for (const viewer of this.viewers) viewer.write(event);
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const path = (request.url ?? "").replace("/secret/", "");
    if (path === "events") {
      this.stream(request, response);
      return;
    }
    this.asked.push(path);
    const body = this.bodies.get(path);
    response.writeHead(body === undefined ? 404 : 200, { "content-type": path.startsWith("profile") ? "application/json" : "text/html" });
    response.end(body ?? "there is no profile yet");
  }

  private stream(request: IncomingMessage, response: ServerResponse): void {
    this.streams += 1;
    this.viewers.add(response);
    response.on("close", () => this.viewers.delete(response));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const last = request.headers["last-event-id"];
    if (last === undefined) response.write(`retry: 300\nevent: head\ndata: ${JSON.stringify(this.head)}\n\n`);
    response.write(this.events.slice(last === undefined ? 0 : Number(last) + 1).join(""));
  }
}
