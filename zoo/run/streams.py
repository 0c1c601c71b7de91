"""Standard output and error of a program: any text in any encoding, a reader that may leave early, and Ctrl-C."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


class PatientStream:
    """A text stream that ignores that its reader has closed the pipe (`zoo list | head`)."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        with suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="replace")  # a character that the encoding lacks becomes ?

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return int(self._stream.write(text))
        except BrokenPipeError:
            self._discard()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._discard()

    def _discard(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)


@contextmanager
def patient_streams() -> Iterator[None]:
    """Within this context, standard output and error are `PatientStream`s."""
    before = sys.stdout, sys.stderr
    if isinstance(sys.stdout, PatientStream):
        yield
        return
    sys.stdout, sys.stderr = (PatientStream(stream) for stream in before)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout, sys.stderr = before


@contextmanager
def stopped_by_ctrl_c() -> Iterator[None]:
    """Within this context, Ctrl-C ends the program with one line and exit code 130; of several ranks, the first prints.

    The slow imports belong into the context too.
    """
    try:
        yield
    except KeyboardInterrupt:
        if os.environ.get("LOCAL_RANK", "0") == "0":
            print("\nstopped by Ctrl-C", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)


def as_json(value: Any, **layout: Any) -> str:
    """Return JSON with characters as they are, or as `\\u` escapes where standard output cannot encode them."""
    text = json.dumps(value, ensure_ascii=False, **layout)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, **layout)
    return text
