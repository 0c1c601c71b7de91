"""Whatever cannot be read is named."""

import io
import re

import pytest
from PIL import Image

from zoo.data.rows import reading
from zoo.errors import DataError


def test_a_picture_that_cannot_be_decoded_is_named(tmp_path):
    whole = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(whole, "PNG")
    for name, content in (("text.png", b"no picture"), ("cut.png", whole.getvalue()[:500])):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(DataError, match=rf"^{re.escape(str(path))}: cannot be read: "), reading(path):
            Image.open(path).load()
