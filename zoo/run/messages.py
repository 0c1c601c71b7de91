"""One line for errors that the user can fix: a mistyped key, a wrong choice, a value of the wrong type."""

import errno
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import (
    ConfigCompositionException,
    HydraException,
    InstantiationException,
    MissingConfigException,
    OverrideParseException,
)
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from zoo.errors import ConfigError, Interrupted, ZooError, did_you_mean
from zoo.memory import size_of
from zoo.run.arguments import is_misconfiguration
from zoo.run.catalogue import data_of_family, has_group
from zoo.run.compose import compose, override

LOST = re.compile("Connection (closed|reset) by peer|Socket closed|Broken pipe|Connection was likely closed")
"""A RuntimeError of torch.distributed where another rank is gone."""


@contextmanager
def explained(overrides: list[str]) -> Iterator[None]:
    """Within this context, errors that one line explains are raised as a ZooError with this line."""
    try:
        yield
    except ZooError:
        raise
    except Exception as error:
        if isinstance(error.__cause__, ZooError):  # what a constructor raised, inside Hydra's own error
            raise error.__cause__ from None
        message = explain(error, overrides)
        if message is None:
            raise
        raise ConfigError(message.removeprefix("error: ")) from error


def explain(error: BaseException, overrides: list[str]) -> str | None:
    """Return the line to print for `error`, or None where only a traceback helps."""
    if isinstance(error, Interrupted):
        return str(error)  # the run obeyed the user
    if isinstance(error, ZooError):
        return f"error: {error}"
    if isinstance(error, MissingConfigException) and error.options is not None:
        return _unknown_choice(error)
    if isinstance(error, ConfigCompositionException):
        return _composition(error, overrides)
    if isinstance(error, InstantiationException):
        return _instantiation(error)
    if isinstance(error, OverrideParseException) and (words := list(filter(_needs_quotes, overrides))):
        return _in_quotes(words)
    if isinstance(error, ValueError) and "Config group override must be" in str(error):
        return _empty_group(overrides)
    if isinstance(error, ValueError) and "`val_check_interval`" in str(error):  # known when the batches are counted
        return f"error: trainer.val_check_interval: {' '.join(str(error).split())}"
    if isinstance(error, (HydraException, OmegaConfBaseException)) or is_misconfiguration(error):
        return f"error: {' '.join(str(error).split())}"
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        where = f"{error.filename}: " if error.filename else ""
        return f"error: {where}the disk is full: make room, or choose another hydra.run.dir=... or ZOO_CACHE"
    if isinstance(error, RuntimeError) and (asked := re.search(r"you tried to allocate (\d+) bytes", str(error))):
        return f"error: not enough memory: {size_of(int(asked[1]))} were needed at once; choose smaller sizes"
    if isinstance(error, RuntimeError) and LOST.search(str(error)):
        return (
            "error: another process of this run has ended: its own message is above, or it was killed, e.g. for "
            "lack of memory. To resume, run the same command with ckpt_path=last"
        )
    if isinstance(error, OSError) and error.filename and _of_the_run(Path(str(error.filename))):
        return (
            f"error: {error.filename}: {error.strerror}; choose another folder with hydra.run.dir=... or fix this one"
        )
    return None


def _needs_quotes(word: str) -> bool:
    key, equals, value = word.partition("=")
    if not equals or not value or value[0] in "[{'\"" or _is_readable(word):
        return False
    return _is_readable(override(key, value))


def _is_readable(word: str) -> bool:
    try:
        OverridesParser.create().parse_override(word)
    except HydraException:
        return False
    return True


def _in_quotes(words: list[str]) -> str:
    """Return the quoted form of overrides whose values Hydra cannot read as they are."""
    quoted = (override(*word.split("=", 1)) for word in words)
    typed = (shlex.quote(word) if re.search(r'["$`\\!]', word) else f'"{word}"' for word in quoted)
    message = f"error: cannot read {' '.join(words)}: put such values in quotes, {' '.join(typed)}"
    if _encodable(message):
        return message
    # a copy of this line would hold other letters
    keys = [word.partition("=")[0] for word in words]
    quoted_keys = " ".join(f"\"{key}='...'\"" for key in keys)
    return f"error: cannot read the value of {' and '.join(keys)}: put such values in quotes, {quoted_keys}"


def _encodable(text: str) -> bool:
    """Whether the standard error can show all letters."""
    try:
        text.encode(sys.stderr.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _of_the_run(path: Path) -> bool:
    """Whether a file belongs to this run's folder; True for every file if Hydra could not make the folder."""
    if not HydraConfig.initialized():
        return True
    folder, path = Path(HydraConfig.get().runtime.output_dir).absolute(), path.absolute()
    return path.is_relative_to(folder) or folder.is_relative_to(path)  # a parent of the run's folder is made with it


def _unknown_choice(error: MissingConfigException) -> str:
    group, _, choice = str(error.missing_cfg_file).rpartition("/")
    options = [option for option in error.options or () if not option.startswith("_")]  # which others inherit
    if group == "data" and (family := data_of_family(choice)):
        return f"error: data={choice}: a family of data, not a data set; available: {', '.join(family)}"
    return f"error: {group}={choice}: unknown {group}; {did_you_mean(choice, options, f'{group}=')}"


def _composition(error: ConfigCompositionException, overrides: list[str]) -> str:
    cause = error.__cause__
    unknown = re.match(r"Could not override '([^']+)'", str(error))
    if unknown:
        return _unknown_key(unknown[1], overrides)
    if ambiguous := re.match(r"Ambiguous value for argument '([^']+)'|Sweep parameters '([^']+)'", str(error)):
        words = ambiguous[1] or ambiguous[2]
        key, _, values = words.partition("=")
        if re.search(r"/|\.[A-Za-z]\w*$", values):  # a file whose name has a comma
            return _in_quotes([words])
        return f"error: {words}: several values; for one run per value use -m {words}; for a list '{key}=[{values}]'"
    reason = str(cause if cause is not None else error).splitlines()[0]
    if there := re.match(r"Could not append to config\. An item is already at '([^']+)'", reason):
        return f"error: +{there[1]}: the key exists already; use {there[1]}=... without the +"
    where = re.match(r"Error merging override (.*)", str(error), re.DOTALL)
    return f"error: {where[1] if where else 'configuration'}: {reason}"


def _empty_group(overrides: list[str]) -> str:
    """Name the group that was set to null, which Hydra's message does not name."""
    word = next((word for word in overrides if re.fullmatch(r"[^.=]+=(null)?", word)), "a group")
    return f"error: {word}: a group needs the name of a choice; to remove the group, use ~{word.partition('=')[0]}"


def _unknown_key(key: str, overrides: list[str]) -> str:
    if (taken := f"~{key.split('.')[0]}") in overrides:
        return f"error: {key}: {taken} removes the whole group; remove {taken} or {key}=..."
    if "/" in key and has_group(key):
        above, _, part = key.rpartition("/")
        return f"error: {key}: the chosen {above} has no {part}; remove {key}=..."
    others = [override for override in overrides if override.split("=")[0].lstrip("+~") != key]
    others = [override for override in others if not override.startswith(("-", "hydra"))]
    try:
        cfg = compose(others)
    except HydraException:  # another key is wrong, too
        try:
            cfg = compose([override for override in others if "." not in override.split("=")[0]])
        except HydraException:
            cfg = compose([])
    node, where, name, rest = cfg, "", *key.partition(".")[::2]
    while rest and isinstance(inside := None if OmegaConf.is_missing(node, name) else node.get(name), DictConfig):
        node, where = inside, f"{where}{name}."
        name, _, rest = rest.partition(".")
    names = [str(existing) for existing in node]
    if name in names and rest:
        value = node[name]
        found = f"is empty; use +{key}=... to add to it" if value is None else f"is {value}, and has no keys below it"
        return f"error: {key}: {where}{name} {found}"
    if not where:
        names += ["experiment", "sweep", "debug"]  # groups that are not keys of the composed configuration
    for group, keys in OmegaConf.to_container(node).items():  # type: ignore[union-attr]
        if isinstance(keys, dict) and name in keys:
            return f"error: {key}: unknown key; did you mean {where}{group!s}.{name}?"
    return f"error: {key}: unknown key; {did_you_mean(name, names, where)}"


def _instantiation(error: InstantiationException) -> str | None:
    cause = error.__cause__
    if isinstance(cause, ZooError):
        return f"error: {cause}"
    if isinstance(cause, (ValueError, TypeError, ImportError)) or is_misconfiguration(cause):
        target = re.search(r"target '([^']+)'|'([\w.]+)'", str(error))
        name = f"{(target[1] or target[2]).rpartition('.')[2]}: " if target else ""
        return f"error: {name}{' '.join(str(cause).split())}"
    return None
