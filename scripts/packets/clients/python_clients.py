"""Python clients that publish and consume for a while and close: `python_clients.py NAME`, other parameters in the environment."""

import asyncio
import os
import socket
import sys
import threading
import time

HOST, PORT, USER, PASSWORD, QUEUE = (os.environ[name] for name in ("HOST", "PORT", "USERNAME", "PASSWORD", "QUEUE"))
PORT, SECONDS, CONFIRMS = int(PORT), float(os.environ["SECONDS"]), os.environ["MODE"] == "confirms"
BODY = b"x" * int(os.environ["SIZE"])
PAUSE = float(os.environ["PAUSE"])


def until_the_end():
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        yield
        time.sleep(PAUSE)


def pika():
    import pika as library

    where = library.ConnectionParameters(HOST, PORT, credentials=library.PlainCredentials(USER, PASSWORD), heartbeat=5)
    def publish():
        connection = library.BlockingConnection(where)
        channel = connection.channel()
        if CONFIRMS:
            channel.confirm_delivery()
        for _ in until_the_end():
            channel.basic_publish("", QUEUE, BODY)
        connection.close()
    connection = library.BlockingConnection(where)
    channel = connection.channel()
    channel.queue_declare(QUEUE)
    channel.basic_qos(prefetch_count=50)
    publisher = threading.Thread(target=publish)
    publisher.start()
    for method, _, _ in channel.consume(QUEUE, inactivity_timeout=0.5):
        if method is not None:
            channel.basic_ack(method.delivery_tag)
        elif not publisher.is_alive():
            break
    channel.cancel()
    channel.queue_delete(QUEUE)
    connection.close()


def aio_pika():
    import aio_pika as library

    async def main():
        address = f"amqp://{USER}:{PASSWORD}@{HOST}:{PORT}/"
        async with await library.connect_robust(address) as taking, await library.connect(address) as giving:
            channel = await taking.channel()
            await channel.set_qos(50)
            queue = await channel.declare_queue(QUEUE, auto_delete=True)
            async def take(message):
                async with message.process():
                    pass
            tag = await queue.consume(take)
            publisher = await giving.channel(publisher_confirms=CONFIRMS)
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                await publisher.default_exchange.publish(library.Message(BODY), QUEUE)
                await asyncio.sleep(PAUSE)
            await asyncio.sleep(0.3)
            await queue.cancel(tag)
    asyncio.run(main())


def kombu():
    import kombu as library

    options = {"confirm_publish": True} if CONFIRMS else {}
    with library.Connection(f"amqp://{USER}:{PASSWORD}@{HOST}:{PORT}//", transport_options=options) as connection:
        queue = library.Queue(QUEUE, auto_delete=True)
        with connection.Consumer(queue, callbacks=[lambda body, message: message.ack()], prefetch_count=50):
            with connection.clone() as giving:
                producer = giving.Producer()
                for _ in until_the_end():
                    producer.publish(BODY, routing_key=QUEUE)
                    try:
                        connection.drain_events(timeout=0.05)
                    except socket.timeout:
                        pass


def paho():
    import paho.mqtt.client as library

    def client(name):
        made = library.Client(library.CallbackAPIVersion.VERSION2, client_id=name, protocol=library.MQTTv311)
        made.username_pw_set(USER, PASSWORD)
        made.connect(HOST, PORT, keepalive=5)
        made.loop_start()
        return made
    taking = client("takes-" + QUEUE)
    taking.subscribe("topic/" + QUEUE, 1 if CONFIRMS else 0)
    giving = client("gives-" + QUEUE)
    for _ in until_the_end():
        giving.publish("topic/" + QUEUE, BODY, 1 if CONFIRMS else 0).wait_for_publish(5)
    time.sleep(0.5)
    for made in (giving, taking):
        made.disconnect()
        made.loop_stop()


def rstream():
    import rstream as library

    async def main():
        login = {"username": USER, "password": PASSWORD}
        async with library.Producer(HOST, PORT, **login) as producer:
            await producer.create_stream(QUEUE, exists_ok=True)
            consumer = library.Consumer(HOST, PORT, **login)
            await consumer.start()
            await consumer.subscribe(QUEUE, lambda message, context: None)
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                await (producer.send_wait if CONFIRMS else producer.send)(QUEUE, BODY)
                await asyncio.sleep(PAUSE)
            await consumer.close()
            await producer.delete_stream(QUEUE)
    asyncio.run(main())


def stomp():
    import stomp as library

    def connected():
        made = library.Connection11([(HOST, PORT)], heartbeats=(4000, 4000))
        made.connect(USER, PASSWORD, wait=True)
        return made
    class Listener(library.ConnectionListener):
        def on_message(self, frame):
            taking.ack(frame.headers["ack"] if "ack" in frame.headers else frame.headers["message-id"], "1")
    taking, giving = connected(), connected()
    taking.set_listener("", Listener())
    taking.subscribe("/queue/" + QUEUE, "1", ack="client-individual")
    for _ in until_the_end():
        giving.send("/queue/" + QUEUE, BODY)
    time.sleep(0.5)
    giving.disconnect(), taking.disconnect()


if __name__ == "__main__":
    {"pika": pika, "aio-pika": aio_pika, "kombu": kombu, "paho": paho, "rstream": rstream, "stomp": stomp}[sys.argv[1]]()
