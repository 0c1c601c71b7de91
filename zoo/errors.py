"""Errors meant for the person at the keyboard: one line, no traceback, exit code 2."""


class ZooError(Exception):
    """What was found, what was expected, and the next thing to try; printed as it is by `train.py` and `zoo`."""

    exit_code = 2


class DataError(ZooError):
    """A data file, row or column that cannot be used; the message begins with the file and, if known, the line."""


class CheckpointError(ZooError):
    """A checkpoint that cannot be read, written or used."""


class ConfigError(ZooError):
    """A key, group or choice that does not exist, has the wrong type, or does not fit the others."""
