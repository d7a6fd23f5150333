"""Compares requests with what protobuf for Python makes of the same JSON.

json_peer.py DESCRIPTOR_SET FILE

Each line of FILE has a type, a request in base64, and JSON. Prints how many are alike, or the first that is not."""

import sys
from base64 import b64decode
from pathlib import Path

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

pool = descriptor_pool.DescriptorPool()
descriptors = descriptor_pb2.FileDescriptorSet.FromString(Path(sys.argv[1]).read_bytes())
waiting = {file.name: file for file in descriptors.file}


def add(name: str) -> None:
    """Adds a file after its imports."""
    file = waiting.pop(name, None)
    if file:
        for imported in file.dependency:
            add(imported)
        pool.Add(file)


for name in list(waiting):
    add(name)

lines = Path(sys.argv[2]).read_text(encoding="utf-8").split("\n")[:-1]
for line in lines:
    kind, request, text = line.split("\t", 2)
    message = message_factory.GetMessageClass(pool.FindMessageTypeByName(kind))
    expected = json_format.Parse(text, message(), descriptor_pool=pool)
    if message.FromString(b64decode(request)) != expected:
        sys.exit(f"{kind}: {text}\nis {message.FromString(b64decode(request))}\nnot {expected}")
print(f"{len(lines)} alike")
