"""Picture files with known pixels, also of kinds that Pillow does not write."""

import struct
import zlib

import numpy as np
from PIL import Image


def png(path, width, height, depth, colour_type, data):
    """A PNG of `depth` bits per number from raw `data`, for any width and height that its header shall have."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(data)), (b"IEND", b"")]
    parts = [
        struct.pack(">I", len(part)) + kind + part + struct.pack(">I", zlib.crc32(kind + part)) for kind, part in chunks
    ]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))
    return path


def png_of_16_bits(path, values, colour_type):
    """A PNG of `values` (h, w, numbers per pixel)."""
    values = np.asarray(values, ">u2")
    height, width, _ = values.shape
    return png(path, width, height, 16, colour_type, b"".join(b"\0" + row.tobytes() for row in values))


def huge_png(path, width, height):
    """A few bytes whose header has a large size."""
    return png(path, width, height, 8, 2, b"\0" * 100)


def picture(path, size=(40, 30), colour=(200, 30, 90), **options):
    """A picture of one colour; `size` is (width, height)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path, **options)
    return path


def noise(path, seed=0, height=24, width=30):
    """A picture of random pixels."""
    pixels = np.random.default_rng(seed).integers(0, 255, (height, width, 3), np.uint8)
    Image.fromarray(pixels).save(path)
    return path


def gradient(height, width):
    """(height, width, 3) pixels: red is the row, green the column."""
    rows, columns = np.mgrid[:height, :width]
    return np.stack([rows, columns, np.full_like(rows, 7)], 2).astype(np.uint8)
