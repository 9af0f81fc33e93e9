"""Sums over the profiles that `profile` writes (pprof), by Erlang process and state of the thread."""

import collections
import gzip


def fields(data):
    """Yields numbers and values of a message of protocol buffers."""
    at, end = 0, len(data)
    while at < end:
        key, at = number(data, at)
        if key & 7 == 0:
            value, at = number(data, at)
        elif key & 7 == 2:
            length, at = number(data, at)
            value, at = data[at:at + length], at + length
        else:
            size = 8 if key & 7 == 1 else 4
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def numbers(values):
    """Numbers of a field, packed or not."""
    for value in values:
        if isinstance(value, int):
            yield value
            continue
        at = 0
        while at < len(value):
            one, at = number(value, at)
            yield one


def read(path):
    """Returns samples (frames from the inside, nanoseconds, labels) and the length in nanoseconds."""
    with gzip.open(path) as file:
        parts = collections.defaultdict(list)
        for key, value in fields(file.read()):
            parts[key].append(value)
    texts = [text.decode("utf-8", "replace") for text in parts[6]]
    functions = {one[1][0]: texts[one[2][0]] for one in map(table, parts[5]) if 2 in one}
    places = {one[1][0]: functions.get(table(one[4][0])[1][0], "") for one in map(table, parts[4]) if 4 in one}
    samples = [(sample(one, texts, places)) for one in map(table, parts[2])]
    return samples, next(numbers(parts[10]), 0)


def table(message):
    found = collections.defaultdict(list)
    for key, value in fields(message):
        found[key].append(value)
    return found


def sample(message, texts, places):
    labels = {texts[one[1][0]]: texts[one[2][0]] for one in map(table, message[3]) if 2 in one}
    return [places.get(place, "") for place in numbers(message[1])], list(numbers(message[2]))[-1], labels


def owner(labels):
    name = labels.get("queue") or labels.get("channel") or labels.get("name") or labels.get("process") or "none"
    return f"{labels.get('role', '')} {name[:60]}".strip()


def sums(path, key, state=None, most=6):
    """Returns the largest sums over samples, in seconds a second, by a function of frames and labels."""
    samples, length = read(path)
    found = collections.Counter()
    for frames, nanos, labels in samples:
        if state is None or state in frames:
            found[key(frames, labels)] += nanos
    return {name: round(nanos / length, 3) for name, nanos in found.most_common(most)} if length else {}
