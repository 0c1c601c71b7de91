"""Completion in a shell: the scripts, and the overrides that a word can become. No network is imported, for quick
answers."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from zoo.run.catalogue import choices, group_file, groups
from zoo.run.settings import read_settings

COMMON = {"model": "han", "data": "yelp", "optimizer": "adam", "scheduler": "linear", "trainer": "default"}
"""Groups whose keys are proposed, and their choices if the line has none (conf/train.yaml)."""
SWITCHES = ("train", "test", "compile")
ROOT_KEYS = ("seed", *SWITCHES, "ckpt_path", "start_from", "threads", "tags")


def split(line: str) -> tuple[list[str], str]:
    """Return the whole words of a line, from the program on, and the beginning of the word at its end."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:  # a quote that is still open: a file name or a text
        return [], ""
    return (words, "") if line[-1:].isspace() else (words[:-1], words[-1] if words else "")


def overrides(words: Sequence[str], current: str, keys_of: Sequence[str] = tuple(COMMON)) -> list[str]:
    """Return the overrides that a word can become: choices of groups, keys, and keys of the chosen files.

    Args:
        words: the words before it, in which models and data may be chosen.
        current: its beginning.
        keys_of: the groups whose keys are proposed.
    """
    key, equals, value = current.partition("=")
    if equals:
        names = ["true", "false"] if key in SWITCHES else choices(key) if key in groups() else []
        before, comma, _ = value.rpartition(",")  # several choices, as in a sweep
        return [f"{key}={before}{comma}{name}" for name in names]
    group, dot, _ = current.partition(".")
    if dot and group in keys_of:
        chosen = {one: name for one, _, name in (word.partition("=") for word in words)}
        path = group_file(group, chosen.get(group, COMMON[group]))
        settings = read_settings(path, group).settings if path else {}
        return [f"{name}=" for name in settings]
    return [f"{name}=" for name in (*groups(), *ROOT_KEYS)]


BASH = """\
_zoo() {
    local IFS=$'\\n' line="${COMP_LINE:0:COMP_POINT}" word before
    COMPREPLY=($("${1/#\\~/$HOME}" completion --line "$line" 2>/dev/null))
    word="${line##*[[:space:]]}"
    before="${word%"${word##*=}"}"  # bash completes what follows the =
    [[ $COMP_WORDBREAKS == *=* && -n $before ]] && COMPREPLY=("${COMPREPLY[@]#"$before"}")
    [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}
complete -o bashdefault -o default -F _zoo zoo
"""
ZSH = """\
#compdef zoo
_zoo() {
    local -a found
    found=("${(@f)$(${~words[1]} completion --line "${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
    found=(${found:#})
    if (( ! $#found )); then
        compset -P '*='
        _files
        return
    fi
    compadd -S '' -- ${(M)found:#*=}
    compadd -- ${found:#*=}
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _zoo zoo
"""
FISH = """\
function __zoo_complete
    set -l words (commandline -opc)
    $words[1] completion --line (commandline -cp | string collect) 2>/dev/null
end
complete -c zoo -a '(__zoo_complete)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
