"""Messages to and from a stream by rstream.

    python3 interoperation.py PORT read STREAM COUNT
    python3 interoperation.py PORT write STREAM
    python3 interoperation.py PORT partitions COUNT KEY PARTITION...
    python3 interoperation.py PORT wanted STREAM VALUE SECONDS
    python3 interoperation.py PORT filtered STREAM COUNT VALUE...
    python3 interoperation.py PORT single STREAM NAME COUNT

User and password are in the environment: BROKER_USER, BROKER_PASSWORD. Prints JSON.
"""

import asyncio
import json
import os
import sys

import mmh3
from rstream import (
    AMQPMessage,
    CompressionType,
    Consumer,
    ConsumerOffsetSpecification,
    FilterConfiguration,
    OffsetSpecification,
    OffsetType,
    Producer,
    amqp_decoder,
)

SIZES = [0, 1, 11, 12, 255, 256, 4096, 70_000, 300_000]
TOGETHER = 50


def place():
    return {
        "host": "127.0.0.1",
        "port": int(sys.argv[1]),
        "username": os.environ["BROKER_USER"],
        "password": os.environ["BROKER_PASSWORD"],
    }


async def read(stream, count):
    sizes, stamps, offsets = set(), [], []
    consumer = Consumer(**place())
    await consumer.start()

    async def on_message(message, context):
        body, properties = bytes(message.body), message.application_properties or {}
        sizes.add(len(body))
        stamps.append(properties.get(b"rabbitscope-stamp", body))
        offsets.append(context.offset)

    first = ConsumerOffsetSpecification(OffsetType.FIRST, None)
    await consumer.subscribe(stream, on_message, decoder=amqp_decoder, offset_specification=first)
    running = asyncio.create_task(consumer.run())
    while len(stamps) < count:
        await asyncio.sleep(0.02)
    await consumer.close()
    running.cancel()
    # The last 28 bits of a stamp are the number of its message.
    numbers = [int.from_bytes(stamp[8:12], "big") & ((1 << 28) - 1) for stamp in stamps]
    return {
        "sizes": sorted(sizes),
        "numbers": numbers == list(range(numbers[0], numbers[0] + count)),
        "offsets": offsets == list(range(count)),
    }


async def partitions(count, key, names):
    """Reads a super stream whose message number i has the key KEY and i. Its partition is the hash of that key, as
    the Java client computes it."""
    found = {}
    consumer = Consumer(**place())
    await consumer.start()
    first = ConsumerOffsetSpecification(OffsetType.FIRST, None)
    for name in names:

        async def on_message(message, context, name=name):
            found[int.from_bytes(bytes(message.body)[8:12], "big") & ((1 << 28) - 1)] = name

        await consumer.subscribe(name, on_message, decoder=amqp_decoder, offset_specification=first)
    running = asyncio.create_task(consumer.run())
    while len(found) < count:
        await asyncio.sleep(0.02)
    await consumer.close()
    running.cancel()
    zero = min(found)
    hashes = [mmh3.hash(f"{key}{i}".encode(), 104729, signed=False) for i in range(count)]
    expected = {zero + i: names[hash % len(names)] for i, hash in enumerate(hashes)}
    return {"same": sum(found[i] == expected[i] for i in expected)}


async def write(stream):
    messages, size = 0, 0
    async with Producer(**place()) as producer:
        await producer.create_stream(stream, exists_ok=True)
        for length in SIZES:
            await producer.send_wait(stream, AMQPMessage(body=bytes(length)))
            messages, size = messages + 1, size + length
        # Bytes that are no message of AMQP are the body themselves.
        await producer.send_wait(stream, b"plain")
        messages, size = messages + 1, size + 5
        for codec in (CompressionType.No, CompressionType.Gzip):
            packed = [AMQPMessage(body=bytes(40)) for _ in range(TOGETHER)]
            await producer.send_sub_entry(stream, packed, codec)
            messages, size = messages + TOGETHER, size + 40 * TOGETHER
    return {"messages": messages, "bytes": size}


def value_of(message):
    """The filter value in the annotations of a message, which has texts as bytes."""
    annotations = message.message_annotations or {}
    value = annotations.get(b"x-stream-filter-value", annotations.get("x-stream-filter-value"))
    return value.decode() if isinstance(value, bytes) else value


async def wanted(stream, value, seconds):
    """Counts messages with a filter value, and others of the chunks in which the broker finds it."""
    found, others = 0, 0
    consumer = Consumer(**place())
    await consumer.start()

    async def on_message(message, context):
        nonlocal found, others
        if value_of(message) == value:
            found += 1
        else:
            others += 1

    first = ConsumerOffsetSpecification(OffsetType.FIRST, None)
    await consumer.subscribe(
        stream,
        on_message,
        decoder=amqp_decoder,
        offset_specification=first,
        filter_input=FilterConfiguration([value]),
    )
    running = asyncio.create_task(consumer.run())
    await asyncio.sleep(seconds)
    await consumer.close()
    running.cancel()
    return {"found": found, "others": others}


async def filtered(stream, count, values):
    """Writes messages with each of the values, one value after the other."""

    async def extract(message):
        return value_of(message)

    async with Producer(**place(), filter_value_extractor=extract) as producer:
        await producer.create_stream(stream, exists_ok=True)
        for value in values:
            annotations = {"x-stream-filter-value": value}
            for _ in range(count):
                message = AMQPMessage(body=bytes(100), message_annotations=annotations)
                await producer.send(stream, message)
            await asyncio.sleep(1)
    return {"messages": count * len(values)}


async def single(stream, name, count):
    """Reads as a single active consumer, from behind the stored offset, and stores its last one."""
    offsets = []
    consumer = Consumer(**place())
    await consumer.start()

    async def on_update(is_active, context):
        stored = await consumer.query_offset(stream=stream, subscriber_name=name)
        return OffsetSpecification(OffsetType.OFFSET, stored + 1)

    async def on_message(message, context):
        if len(offsets) < count:
            offsets.append(context.offset)

    await consumer.subscribe(
        stream,
        on_message,
        decoder=amqp_decoder,
        properties={"single-active-consumer": "true", "name": name},
        subscriber_name=name,
        consumer_update_listener=on_update,
    )
    running = asyncio.create_task(consumer.run())
    while len(offsets) < count:
        await asyncio.sleep(0.02)
    await consumer.store_offset(stream=stream, subscriber_name=name, offset=offsets[-1])
    await consumer.close()
    running.cancel()
    return {"first": offsets[0], "last": offsets[-1]}


async def main():
    words = sys.argv[2:]
    if words[0] == "read":
        work = read(words[1], int(words[2]))
    elif words[0] == "wanted":
        work = wanted(words[1], words[2], float(words[3]))
    elif words[0] == "filtered":
        work = filtered(words[1], int(words[2]), words[3:])
    elif words[0] == "single":
        work = single(words[1], words[2], int(words[3]))
    elif words[0] == "partitions":
        work = partitions(int(words[1]), words[2], words[3:])
    else:
        work = write(words[1])
    print(json.dumps(await asyncio.wait_for(work, 60)))


asyncio.run(main())
