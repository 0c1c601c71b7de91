"""How documents of your own are split."""

from __future__ import annotations

from dataclasses import dataclass

from zoo.data.options import SHARE, SplitOptions, is_share


@dataclass(frozen=True)
class OwnSplitOptions(SplitOptions):
    """The same for documents of your own, where `val` and `test` may also be the path of a second table, or, in class
    folders, a pattern for the names of the files, such as `cv9*`."""

    def __post_init__(self) -> None:
        for key in ("val", "test"):
            value = getattr(self, key)
            named = isinstance(value, str) and value.strip() != ""
            self._check(
                key,
                named or is_share(value),
                f"{SHARE}, the path of a table or a pattern of file names",
            )
        self._something_left()

    def named(self) -> dict[str, str]:
        """The splits that are given by a path or a pattern."""
        return {key: value for key in ("val", "test") if isinstance(value := getattr(self, key), str)}
