"""Stories in the official text format of bAbI."""

from __future__ import annotations

from zoo.data.stories.story import Story

BLANK_BEFORE_ANSWER = frozenset({1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14})
"""Tasks in whose official files a blank stands between the question mark and the tab."""


def write_story(story: Story) -> str:
    """The lines of a story as they stand in an official file, each with its line end: `1 Mary moved to the bathroom.`,
    `3 Where is Mary? <tab>bathroom<tab>1`; the supporting lines have blanks between them. Files are stories one after
    the other: that a number is 1 again is what tells where one begins."""
    blank = " " if story.task in BLANK_BEFORE_ANSWER else ""
    lines = []
    for number, line in enumerate(story.lines, 1):
        text = f"{number} {line.text}"
        if line.answer is not None:
            text += f"{blank}\t{line.answer}\t{' '.join(map(str, line.supporting))}"
        lines.append(text + "\n")
    return "".join(lines)
