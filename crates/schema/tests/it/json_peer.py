"""Compares requests with what protobuf for Python makes of the same JSON.

json_peer.py DESCRIPTOR_SET FILE

Each line of FILE has a type, a request in base64, and JSON. Prints how many are alike, or the first that is not. The first ones
are also compared with what protoc makes of their text format, if it is installed."""

import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from shutil import which

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, text_format

# Each is a process.
WITH_PROTOC = 300 if which("protoc") else 0

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


def by_protoc(kind: str, text: str) -> bytes:
    command = ["protoc", f"--descriptor_set_in={sys.argv[1]}", f"--encode={kind}"]
    return subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout


lines = Path(sys.argv[2]).read_text(encoding="utf-8").split("\n")[:-1]
for at, line in enumerate(lines):
    kind, request, text = line.split("\t", 2)
    message = message_factory.GetMessageClass(pool.FindMessageTypeByName(kind))
    expected = json_format.Parse(text, message(), descriptor_pool=pool)
    found = message.FromString(b64decode(request))
    if found != expected:
        sys.exit(f"{kind}: {text}\nis {found}\nnot {expected}")
    if at < WITH_PROTOC and found != message.FromString(by_protoc(kind, text_format.MessageToString(expected))):
        sys.exit(f"{kind}: {text}\nis {found}\nbut something else by protoc")
print(f"{len(lines)} alike")
