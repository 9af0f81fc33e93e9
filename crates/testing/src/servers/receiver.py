"""Receives profiles as Pyroscope, Parca and an OTLP receiver would, and prints what it has decoded, a line of JSON each.

First the port that it listens on. Ends with its standard input. Definitions: OpenTelemetry's own package; of pprof and Pyroscope the numbers and types
of the fields as published (google/pprof proto/profile.proto, grafana/pyroscope api/push/v1/push.proto and
api/types/v1/types.proto, parca-dev/parca proto/parca/profilestore/v1alpha1/profilestore.proto).
"""

import gzip
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2 as otlp

# A message's fields: name, number, type; `*` is repeated.
PPROF = {
    "Profile": [
        ("sample_type", 1, "*ValueType"), ("sample", 2, "*Sample"), ("mapping", 3, "*Mapping"),
        ("location", 4, "*Location"), ("function", 5, "*Function"), ("string_table", 6, "*string"),
        ("drop_frames", 7, "int64"), ("keep_frames", 8, "int64"), ("time_nanos", 9, "int64"),
        ("duration_nanos", 10, "int64"), ("period_type", 11, "ValueType"), ("period", 12, "int64"),
        ("comment", 13, "*int64"), ("default_sample_type", 14, "int64"),
    ],
    "ValueType": [("type", 1, "int64"), ("unit", 2, "int64")],
    "Sample": [("location_id", 1, "*uint64"), ("value", 2, "*int64"), ("label", 3, "*Label")],
    "Label": [("key", 1, "int64"), ("str", 2, "int64"), ("num", 3, "int64"), ("num_unit", 4, "int64")],
    "Mapping": [
        ("id", 1, "uint64"), ("memory_start", 2, "uint64"), ("memory_limit", 3, "uint64"),
        ("file_offset", 4, "uint64"), ("filename", 5, "int64"), ("build_id", 6, "int64"),
        ("has_functions", 7, "bool"), ("has_filenames", 8, "bool"), ("has_line_numbers", 9, "bool"),
        ("has_inline_frames", 10, "bool"),
    ],
    "Location": [
        ("id", 1, "uint64"), ("mapping_id", 2, "uint64"), ("address", 3, "uint64"), ("line", 4, "*Line"),
        ("is_folded", 5, "bool"),
    ],
    "Line": [("function_id", 1, "uint64"), ("line", 2, "int64"), ("column", 3, "int64")],
    "Function": [
        ("id", 1, "uint64"), ("name", 2, "int64"), ("system_name", 3, "int64"), ("filename", 4, "int64"),
        ("start_line", 5, "int64"),
    ],
}
PYROSCOPE = {
    "PushRequest": [("series", 1, "*RawProfileSeries")],
    "RawProfileSeries": [("labels", 1, "*LabelPair"), ("samples", 2, "*RawSample")],
    "LabelPair": [("name", 1, "string"), ("value", 2, "string")],
    "RawSample": [("raw_profile", 1, "bytes"), ("ID", 2, "string")],
}
PARCA = {
    "WriteRawRequest": [("tenant", 1, "string"), ("series", 2, "*RawProfileSeries"), ("normalized", 3, "bool")],
    "RawProfileSeries": [("labels", 1, "LabelSet"), ("samples", 2, "*RawSample")],
    "LabelSet": [("labels", 1, "*Label")],
    "Label": [("name", 1, "string"), ("value", 2, "string")],
    "RawSample": [("raw_profile", 1, "bytes")],
}


def messages(package, definitions):
    """Classes of the messages, made by protobuf from their descriptors."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    kinds = descriptor_pb2.FieldDescriptorProto
    for name, fields in definitions.items():
        message = file.message_type.add(name=name)
        for field, number, kind in fields:
            label = kinds.LABEL_REPEATED if kind.startswith("*") else kinds.LABEL_OPTIONAL
            added = message.field.add(name=field, number=number, label=label)
            kind = kind.lstrip("*")
            if kind in definitions:
                added.type, added.type_name = kinds.TYPE_MESSAGE, f".{package}.{kind}"
            else:
                added.type = getattr(kinds, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))
        for name in definitions
    }


PPROF = messages("perftools.profiles", PPROF)
PYROSCOPE = messages("push.v1", PYROSCOPE)
PARCA = messages("parca.profilestore.v1alpha1", PARCA)


def only(things):
    assert len(things) == 1, f"{len(things)} of {things}"
    return things[0]


def known(message):
    """The message has no field that its definition lacks."""
    again = type(message)()
    again.ParseFromString(message.SerializeToString())
    again.DiscardUnknownFields()
    assert again == message and again.ByteSize() == message.ByteSize(), "unknown fields"
    return message


def pprof(raw):
    profile = PPROF["Profile"]()
    profile.ParseFromString(gzip.decompress(raw))
    known(profile)
    text = profile.string_table
    assert text[0] == ""
    kinds = [f"{text[it.type]}/{text[it.unit]}" for it in profile.sample_type]
    functions = {it.id: text[it.name] for it in profile.function}
    mappings = {it.id for it in profile.mapping}
    locations = {it.id: functions[only(it.line).function_id] for it in profile.location}
    assert all(it.mapping_id in mappings for it in profile.location)
    assert kinds == ["samples/count", "cpu/nanoseconds"], kinds
    samples = []
    for sample in profile.sample:
        assert sample.value[1] == sample.value[0] * profile.period
        samples.append({
            "stack": [locations[id] for id in sample.location_id],
            "labels": {text[it.key]: text[it.str] for it in sample.label},
            "count": sample.value[0],
        })
    return {
        "samples_type": kinds[0], "samples": samples, "period": profile.period,
        "period_type": f"{text[profile.period_type.type]}/{text[profile.period_type.unit]}",
        "time_nanos": profile.time_nanos,
    }


def pyroscope(body):
    request = PYROSCOPE["PushRequest"]()
    request.ParseFromString(body)
    series = only(known(request).series)
    sample = only(series.samples)
    assert len(sample.ID) == 36
    return pprof(sample.raw_profile) | {"labels": {it.name: it.value for it in series.labels}}


def parca(body):
    series = only(json_format.Parse(body, PARCA["WriteRawRequest"]()).series)
    labels = {it.name: it.value for it in series.labels.labels}
    return pprof(only(series.samples).raw_profile) | {"labels": labels}


def otlp_profiles(body):
    request = otlp.ExportProfilesServiceRequest()
    request.ParseFromString(gzip.decompress(body))
    known(request)
    tables = request.dictionary
    text = tables.string_table
    assert text[0] == ""
    for table in ["mapping", "location", "function", "link", "attribute", "stack"]:
        first = getattr(tables, f"{table}_table")[0]
        assert first == type(first)(), f"{table}: the first row is empty"
    resource = only(request.resource_profiles)
    profile = only(only(resource.scope_profiles).profiles)
    assert len(profile.profile_id) == 16

    def kind(it):
        return f"{text[it.type_strindex]}/{text[it.unit_strindex]}"

    def attributes(indices):
        rows = [tables.attribute_table[it] for it in indices]
        return {text[it.key_strindex]: it.value.string_value for it in rows}

    def function(location):
        row = tables.location_table[location]
        assert attributes(row.attribute_indices)["profile.frame.type"] in ["beam", "native", "kernel"]
        return text[tables.function_table[only(row.lines).function_index].name_strindex]

    samples = [
        {
            "stack": [function(it) for it in tables.stack_table[sample.stack_index].location_indices],
            "labels": attributes(sample.attribute_indices),
            "count": only(sample.values),
        }
        for sample in profile.samples
    ]
    return {
        "samples_type": kind(profile.sample_type), "samples": samples, "period": profile.period,
        "period_type": kind(profile.period_type), "time_nanos": profile.time_unix_nano,
        "labels": {it.key: it.value.string_value for it in resource.resource.attributes},
    }


# By path: the media type that the backend expects, how it is decoded, the answer.
PATHS = {
    "/push.v1.PusherService/Push": ("application/proto", pyroscope, b""),
    "/api/profiles/writeraw": ("application/json", parca, b"{}"),
    "/v1development/profiles": (
        "application/x-protobuf", otlp_profiles, otlp.ExportProfilesServiceResponse().SerializeToString(),
    ),
}


# A line and its end are two writes.
OUTPUT = threading.Lock()


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        kind, decode, answer = PATHS[self.path]
        assert self.headers["Content-Type"] == kind, self.headers["Content-Type"]
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if decode is otlp_profiles:
            assert self.headers["Content-Encoding"] == "gzip"
        decoded = decode(body) | {"path": self.path, "tenant": self.headers["X-Scope-OrgID"]}
        with OUTPUT:
            print(json.dumps(decoded), flush=True)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_address[1], flush=True)
# It ends with the test, which holds the other end of standard input.
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
server.serve_forever()
