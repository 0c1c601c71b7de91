"""Reads back what wandb wrote offline: `run-<id>.wandb`, a log of protobuf records in blocks of 32 KiB."""

import json
import struct
import time
from pathlib import Path

from wandb.proto.wandb_internal_pb2 import Record

BLOCK = 32 * 1024


def records(path: Path) -> list[Record]:
    """All records of the file. Each is cut into chunks (crc, length, type) that do not cross a block."""
    data = path.read_bytes()
    found, pending, at = [], b"", 7  # a header of 7 bytes comes first
    while at + 7 <= len(data):
        if BLOCK - at % BLOCK < 7:  # no room for a chunk's header: the block is filled up
            at += BLOCK - at % BLOCK
            continue
        _, length, kind = struct.unpack("<IHB", data[at : at + 7])
        pending += data[at + 7 : at + 7 + length]
        at += 7 + length
        if at > len(data):  # still being written
            break
        if kind in (1, 4):  # whole, or the last part
            found.append(Record.FromString(pending))
            pending = b""
    return found


def finished_records(folder: Path, seconds: float = 60) -> list[Record]:
    """The records of the one offline run in `folder`; wandb's own process may still be writing after `finish()`."""
    (path,) = folder.rglob("*.wandb")
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = records(path)
        if found and found[-1].HasField("exit"):
            return found
        time.sleep(0.1)
    raise AssertionError(f"{path} does not end")


def history(found: list[Record]) -> list[dict]:
    """The rows that were logged."""
    rows = []
    for record in found:
        if record.HasField("history"):
            rows.append(
                {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
            )
    return rows
