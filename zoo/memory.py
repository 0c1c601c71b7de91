"""Sizes in bytes: of this machine's memory, and in words."""

import os


def memory() -> float:
    """Return the bytes of memory of this machine; infinity where the system does not give them."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return float("inf")


def size_of(count: float) -> str:
    """Return a number of bytes in a unit that is easy to read."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"
