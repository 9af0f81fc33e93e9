"""RabbitMQ's stream protocol by rstream: publishes, waits for the confirms, reads everything back.

    python3 stream.py PORT        user and password in the environment: BROKER_USER, BROKER_PASSWORD

Prints, as JSON, the frames that the client wrote and read, by sender and command, and its messages.
"""

import asyncio
import json
import os
import re
import sys
from collections import Counter

from rstream import (
    AMQPMessage,
    CompressionType,
    Consumer,
    ConsumerOffsetSpecification,
    OffsetType,
    Producer,
)
from rstream import connection as wire

BODY = b"body of a message"
SINGLE, BATCHED, PACKED = 50, 100, 10

frames = Counter()
confirmed = 0


def name(frame):
    """As the protocol's description has it: `declare-publisher-response`."""
    words = re.sub(r"(?<!^)([A-Z])", r"-\1", frame.key.name.removeprefix("Command")).lower()
    words = words.replace("exchange-command-version", "exchange-command-versions")
    return words + ("-response" if type(frame).__name__.endswith("Response") else "")


def count_frames():
    """Every frame goes through these three."""
    write, publish, read = (
        wire.Connection.write_frame,
        wire.Connection.write_frame_publish,
        wire.Connection.read_frame,
    )

    async def written(self, frame, version=1):
        frames[f"client {name(frame)}"] += 1
        await write(self, frame, version)

    async def published(self, frame, version=1):
        frames[f"client {name(frame)}"] += 1
        await publish(self, frame, version)

    async def came(self):
        global confirmed
        frame = await read(self)
        frames[f"broker {name(frame)}"] += 1
        if name(frame) == "publish-confirm":
            confirmed += len(frame.publishing_ids)
        return frame

    wire.Connection.write_frame = written
    wire.Connection.write_frame_publish = published
    wire.Connection.read_frame = came


async def until(condition):
    while not condition():
        await asyncio.sleep(0.02)


async def publish(where):
    async with Producer(**where, default_batch_publishing_delay=0.1) as producer:
        await producer.create_stream("packets", exists_ok=True)
        for _ in range(SINGLE):
            await producer.send("packets", BODY)
        await producer.send_batch("packets", [BODY] * BATCHED)
        packed = [AMQPMessage(body=BODY) for _ in range(PACKED)]
        await producer.send_sub_entry("packets", packed, CompressionType.Gzip)
        # The packed ones have one id together.
        await until(lambda: confirmed >= SINGLE + BATCHED + 1)


async def consume(where):
    received = []
    consumer = Consumer(**where)
    await consumer.start()
    first = ConsumerOffsetSpecification(OffsetType.FIRST, None)
    await consumer.subscribe("packets", lambda *_: received.append(1), offset_specification=first)
    running = asyncio.create_task(consumer.run())
    await until(lambda: len(received) >= SINGLE + BATCHED + PACKED)
    await consumer.close()
    running.cancel()
    return len(received)


async def main():
    count_frames()
    where = {
        "host": "127.0.0.1",
        "port": int(sys.argv[1]),
        "username": os.environ["BROKER_USER"],
        "password": os.environ["BROKER_PASSWORD"],
    }
    await asyncio.wait_for(publish(where), 30)
    delivered = await asyncio.wait_for(consume(where), 30)
    published = SINGLE + BATCHED + PACKED
    known = {"published": published, "confirmed": confirmed, "delivered": delivered}
    print(json.dumps({"frames": frames, **known}))


asyncio.run(main())
