"""Picture files with known pixels, made by hand where Pillow does not write the kind."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from PIL import Image


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of_16_bits(path, values, colour_type):
    """A PNG of 16 bits a number: `values` (h, w, numbers of a pixel)."""
    values = np.asarray(values, ">u2")
    height, width, _ = values.shape
    rows = b"".join(b"\0" + row.tobytes() for row in values)
    header = struct.pack(">IIBBBBB", width, height, 16, colour_type, 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))
    return path


def png_that_says(path, width, height):
    """A few bytes that claim to be so large a picture."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(b"\0" * 100)), chunk(b"IEND", b"")]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))
    return path


def picture(path, size=(40, 30), colour=(200, 30, 90), **options):
    """One of one colour; `size` is (width, height)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path, **options)
    return path


def gradient(height, width):
    """(height, width, 3) of which every pixel tells its place: red its row, green its column."""
    rows, columns = np.mgrid[:height, :width]
    return np.stack([rows, columns, np.full_like(rows, 7)], 2).astype(np.uint8)
