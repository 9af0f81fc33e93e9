#!/usr/bin/env python3
"""Clients of four protocols that do a little of everything, for scripts/compare-wire.sh.

    python3 scripts/wire-clients.py pika|proton|rstream|paho URI PORT

URI is amqp://USER:PASSWORD@HOST:PORT/VHOST in the environment variable that is named; PORT is that of the protocol. Bodies
begin with the word "body" so that a capture without bodies can be told from one with them.
"""

import asyncio
import os
import sys
import threading
from urllib.parse import unquote, urlsplit

BODY = b"body of a message"


def pika_client(login, port):
    import pika

    credentials = pika.PlainCredentials(*login)
    parameters = pika.ConnectionParameters(
        "127.0.0.1", port, credentials=credentials, heartbeat=2, frame_max=8192
    )
    connection = pika.BlockingConnection(parameters)
    channel = connection.channel()
    topology(channel)
    publishing(channel, pika)
    consuming(channel)
    replies(connection, pika)
    transactions(connection)
    # Heartbeats of both sides.
    connection.process_data_events(time_limit=3)
    channel.queue_unbind("wire-queue", "wire-exchange", "key")
    channel.queue_purge("wire-queue")
    channel.queue_delete("wire-queue")
    channel.exchange_unbind("wire-exchange", "amq.topic", "key")
    channel.exchange_delete("wire-exchange")
    channel.close()
    connection.close()


def topology(channel):
    channel.exchange_declare("wire-exchange", "direct")
    channel.exchange_bind("wire-exchange", "amq.topic", "key")
    channel.queue_declare("wire-queue", auto_delete=False)
    channel.queue_bind("wire-queue", "wire-exchange", "key")
    channel.basic_qos(prefetch_count=5)


def publishing(channel, pika):
    channel.confirm_delivery()
    properties = pika.BasicProperties(
        content_type="text/plain", headers={"h": 1, "t": {"x": "y"}}, delivery_mode=2, priority=3
    )
    for _ in range(20):
        channel.basic_publish("wire-exchange", "key", BODY, properties)
    channel.basic_publish("wire-exchange", "key", b"")
    channel.basic_publish("wire-exchange", "key", BODY * 1200)
    try:
        channel.basic_publish("wire-exchange", "nowhere", BODY, mandatory=True)
    except pika.exceptions.UnroutableError:
        pass


def consuming(channel):
    channel.basic_get("wire-queue", auto_ack=True)
    method, _, _ = channel.basic_get("wire-queue")
    channel.basic_nack(method.delivery_tag, requeue=True)
    for number, (method, _, _) in enumerate(channel.consume("wire-queue", inactivity_timeout=1)):
        if method is None:
            break
        if number == 3:
            channel.basic_reject(method.delivery_tag, requeue=True)
        elif number > 3 and number % 4 == 0:
            channel.basic_ack(method.delivery_tag, multiple=True)
        elif number < 3:
            channel.basic_ack(method.delivery_tag)
        if number == 20:
            break
    channel.cancel()
    channel.basic_recover(requeue=True)
    channel.queue_purge("wire-queue")
    channel.basic_get("wire-queue")


def replies(connection, pika):
    channel = connection.channel()
    channel.queue_declare("wire-requests", auto_delete=True)

    def answer(channel, method, properties, body):
        channel.basic_publish(
            "",
            properties.reply_to,
            body,
            pika.BasicProperties(correlation_id=properties.correlation_id),
        )
        channel.basic_ack(method.delivery_tag)

    answers = []
    channel.basic_consume("wire-requests", answer)
    channel.basic_consume("amq.rabbitmq.reply-to", lambda *_: answers.append(1), auto_ack=True)
    for number in range(5):
        properties = pika.BasicProperties(
            reply_to="amq.rabbitmq.reply-to", correlation_id=f"id-{number}"
        )
        channel.basic_publish("", "wire-requests", BODY, properties)
        while len(answers) <= number:
            connection.process_data_events(time_limit=1)
    channel.close()


def transactions(connection):
    channel = connection.channel()
    channel.tx_select()
    channel.basic_publish("", "wire-queue", BODY)
    channel.tx_commit()
    channel.basic_publish("", "wire-queue", BODY)
    channel.tx_rollback()
    channel.close()


def proton_client(login, port):
    from proton import Message
    from proton.utils import BlockingConnection

    connection = BlockingConnection(
        f"amqp://127.0.0.1:{port}",
        user=login[0],
        password=login[1],
        allowed_mechs="PLAIN",
    )
    sender = connection.create_sender("/queue/wire-proton")
    for _ in range(20):
        sender.send(Message(body=BODY))
    sender.send(Message(body=BODY * 1200))
    # RabbitMQ 3.10 ends the session after more credit, so only these ten are received and nothing is closed.
    receiver = connection.create_receiver("/queue/wire-proton", credit=10)
    for number in range(10):
        receiver.receive(timeout=10)
        receiver.reject() if number == 5 else receiver.accept()


def rstream_client(login, port):
    asyncio.run(streams(login, port))


async def streams(login, port):
    from rstream import AMQPMessage, Consumer, ConsumerOffsetSpecification, OffsetType, Producer
    from rstream import CompressionType

    where = {"host": "127.0.0.1", "port": port, "username": login[0], "password": login[1]}
    confirmed = []
    async with Producer(**where) as producer:
        await producer.create_stream("wire-stream", exists_ok=True)

        def on_confirm(status):
            confirmed.append(status.message_id)

        for _ in range(50):
            await producer.send("wire-stream", BODY, on_publish_confirm=on_confirm)
        await producer.send_batch("wire-stream", [BODY] * 100, on_publish_confirm=on_confirm)
        batch = [AMQPMessage(body=BODY) for _ in range(10)]
        await producer.send_sub_entry("wire-stream", batch, CompressionType.Gzip)
        await asyncio.sleep(2)
    consumer = Consumer(**where)
    await consumer.start()
    received = []
    await consumer.subscribe(
        "wire-stream",
        lambda message, context: received.append(1),
        offset_specification=ConsumerOffsetSpecification(OffsetType.FIRST, None),
    )
    running = asyncio.create_task(consumer.run())
    await asyncio.sleep(2)
    await consumer.close()
    running.cancel()
    print(f"{len(confirmed)} confirmed, {len(received)} received", file=sys.stderr)


def paho_client(login, port):
    import paho.mqtt.client as mqtt

    version = mqtt.MQTTv5 if os.environ.get("MQTT_VERSION") == "5" else mqtt.MQTTv311
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id="wire", protocol=version)
    client.username_pw_set(*login)
    came, subscribed = threading.Semaphore(0), threading.Event()
    client.on_message = lambda *_: came.release()
    client.on_subscribe = lambda *_: subscribed.set()
    client.connect("127.0.0.1", port, keepalive=5)
    client.loop_start()
    client.subscribe("wire/#", qos=1)
    subscribed.wait(5)
    for number in range(30):
        client.publish("wire/topic", BODY * (1 + number), qos=number % 2).wait_for_publish(5)
    if version == mqtt.MQTTv5:
        client.publish("wire/topic", BODY, qos=2).wait_for_publish(5)
    for _ in range(30):
        came.acquire(timeout=5)
    client.unsubscribe("wire/#")
    # A ping.
    threading.Event().wait(7)
    client.disconnect()
    client.loop_stop()


def main():
    clients = {
        "pika": pika_client,
        "proton": proton_client,
        "rstream": rstream_client,
        "paho": paho_client,
    }
    uri = urlsplit(os.environ[sys.argv[2]])
    login = (unquote(uri.username or ""), unquote(uri.password or ""))
    clients[sys.argv[1]](login, int(sys.argv[3]))


main()
