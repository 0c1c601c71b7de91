"""The address of an answer: it holds the networks and the input, so that it can be sent to others."""

import base64
import binascii
import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from zoo.errors import DataError
from zoo.visualize.view import Field

LARGEST = 24_000  # Bytes of a file in an address; servers and browsers refuse long addresses


class Asked(NamedTuple):
    """The names of networks and the values of the fields of their form."""

    networks: list[str]
    values: list[str]


def query(asked: Asked, form: Sequence[Field]) -> str:
    """Return the part of the address from the question mark on. Raises DataError for a file that is too large."""
    parts = [("network", name) for name in asked.networks]
    parts += [("input", _written(value, field)) for value, field in zip(asked.values, form, strict=True)]
    return f"?{urlencode(parts)}"


def read(networks: Sequence[str], inputs: Sequence[str], forms: Mapping[str, Sequence[Field]]) -> Asked:
    """Return what an address asks, from its values of `network` and `input`.

    Args:
        forms: the form of each network that is served, by its name.

    Raises:
        DataError: a network that is not served, or an input that does not fit its form.
    """
    if missing := [name for name in networks if name not in forms]:
        raise DataError(f"{missing[0]}: this network is not served here; choose one of {', '.join(forms)}")
    form = forms[networks[0]]
    if any(forms[name] != form for name in networks) or len(inputs) != len(form):
        raise DataError("this address does not fit its network: copy it again from the field under an answer")
    return Asked(list(networks), [_opened(value, field) for value, field in zip(inputs, form, strict=True)])


def _written(value: str, field: Field) -> str:
    if not field.gives_file:
        return value
    content = Path(value).read_bytes()
    if len(content) > LARGEST:
        raise DataError(f"this {field.label} has {len(content):,} bytes: an address holds at most {LARGEST:,}")
    return base64.urlsafe_b64encode(content).decode()


def _opened(value: str, field: Field) -> str:
    """Return the value of a field; a file is written to a temporary one."""
    if not field.gives_file:
        return value
    try:
        content = base64.urlsafe_b64decode(value)
    except (binascii.Error, ValueError) as error:
        raise DataError(f"the {field.label} of this address is damaged: copy the address again") from error
    path = (
        Path(tempfile.gettempdir())
        / f"zoo-{hashlib.sha256(content).hexdigest()[:16]}{'.png' * (field.kind == 'image')}"
    )
    path.write_bytes(content)
    return str(path)
