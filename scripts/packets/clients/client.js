// Clients of Node.js that publish and consume for a while and close: `node client.js NAME`, the rest in the environment.
const { createRequire } = require("module");
const library = createRequire(process.env.LIBRARIES + "/")(
    { amqplib: "amqplib", rhea: "rhea", mqttjs: "mqtt" }[process.argv[2]]);
const { HOST, PORT, USERNAME, PASSWORD, QUEUE } = process.env;
const seconds = Number(process.env.SECONDS), pause = 1000 * Number(process.env.PAUSE);
const confirms = process.env.MODE === "confirms", body = Buffer.alloc(Number(process.env.SIZE), "x");
const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis));
async function untilTheEnd(step) {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end; await sleep(pause)) await step();
}

async function amqplib() {
    const address = { hostname: HOST, port: Number(PORT), username: USERNAME, password: PASSWORD, heartbeat: 5 };
    const [taking, giving] = [await library.connect(address), await library.connect(address)];
    const channel = await taking.createChannel();
    await channel.assertQueue(QUEUE, { autoDelete: true, durable: false });
    await channel.prefetch(50);
    await channel.consume(QUEUE, (message) => message && channel.ack(message));
    const publisher = confirms ? await giving.createConfirmChannel() : await giving.createChannel();
    await untilTheEnd(() => publisher.sendToQueue(QUEUE, body));
    if (confirms) await publisher.waitForConfirms();
    await sleep(300);
    await giving.close();
    await taking.close();
}

async function rhea() {
    const options = { host: HOST, port: Number(PORT), username: USERNAME, password: PASSWORD, reconnect: false };
    const connection = library.create_container().connect(options);
    connection.open_receiver({ source: { address: "/queue/" + QUEUE }, credit_window: 50 });
    const sender = connection.open_sender({ target: { address: "/queue/" + QUEUE }, snd_settle_mode: confirms ? 0 : 1 });
    await new Promise((resolve) => sender.once("sendable", resolve));
    await untilTheEnd(() => sender.credit > 0 && sender.send({ body: body.toString() }));
    await sleep(300);
    connection.close();
    await new Promise((resolve) => connection.once("connection_close", resolve));
}

async function mqttjs() {
    const options = { username: USERNAME, password: PASSWORD, protocolVersion: 4, keepalive: 5 };
    const connect = () => library.connectAsync(`mqtt://${HOST}:${PORT}`, options);
    const [taking, giving] = [await connect(), await connect()];
    await taking.subscribeAsync("js/" + QUEUE, { qos: confirms ? 1 : 0 });
    await untilTheEnd(() => giving.publishAsync("js/" + QUEUE, body, { qos: confirms ? 1 : 0 }));
    await sleep(300);
    await giving.endAsync();
    await taking.endAsync();
}

({ amqplib, rhea, mqttjs })[process.argv[2]]();
