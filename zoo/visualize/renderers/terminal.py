"""Print the blocks of an answer on the terminal: shaded where there is colour, with marks where there is none."""

from collections.abc import Collection, Iterator, Sequence
from functools import singledispatch
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.style import Style
from rich.table import Column, Table
from rich.text import Text

from zoo.printable import shown
from zoo.visualize.blocks import Block, Classes, Columns, Grid, Head, Note, Passage, Rows, flat
from zoo.visualize.drawing import mixed

WIDTH = 100  # Letters per line without a terminal
BAR, SENTENCE_BAR = 20, 8  # Letters of a full bar
MOST_CLASSES, MOST_OTHERS, MOST_ROWS = 10, 3, 20
UNKNOWN = "(?)"  # Printed after a word that the network does not know
VISIBLE, MARKED, STRONG = 0.1, 0.25, 0.6  # The least strengths of a shaded, a *marked* and a **strongly marked** word
PALE, DEEP = "#deebfc", "#5b9bf0"  # Shades behind near-black letters, readable on light and dark terminals
WRONG, MARK = "bold red underline", "^"


class Screen(NamedTuple):
    """The abilities of the terminal."""

    width: int
    colour: bool = False
    many_colours: bool = False  # At least 256 colours, so that classes have different ones
    ascii_only: bool = False


class Printed:
    """Blocks for `print` and for a console of `rich`."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = flat(blocks)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        colour = console.color_system is not None and not console.no_color
        many = colour and console.color_system in ("256", "truecolor")
        screen = Screen(options.max_width, colour, many, options.ascii_only)
        for block in self.blocks:
            yield from lines(block, screen)

    def __str__(self) -> str:
        """Without colour, in lines of at most WIDTH letters."""
        console = Console(width=WIDTH, color_system=None, force_terminal=False, legacy_windows=False)
        with console.capture() as capture:
            console.print(self)
        return "".join(line.rstrip() + "\n" for line in capture.get().splitlines())


@singledispatch
def lines(block: Block, screen: Screen) -> Iterator[RenderableType]:
    """Yield the lines of a block; a block without a form for the terminal has none."""
    yield from ()


@lines.register
def _(block: Head, screen: Screen) -> Iterator[RenderableType]:
    answer = Text(shown(block.text), "bold")
    if block.wrong:
        yield Text("\n").join(_judged_letters(block.text, block.wrong, min(screen.width, WIDTH), screen.colour))
        answer = Text()
    if block.probability is not None:
        answer.append(f"  {block.probability:.2f}", "not bold")
    if block.classes is not None and block.classes.in_one_line:
        answer.append(f"  {_others(block.classes)}".rstrip(), "not bold dim")
    if block.under:
        answer.append(("  " if answer else "") + shown(block.under), "not bold dim")
    if block.verdict:
        answer.append(f"  {shown(block.verdict)}", "not bold")
    if answer:
        yield answer
    if block.classes is not None and not block.classes.in_one_line:
        yield _bars(block.classes, screen)


def _others(classes: Classes) -> str:
    """The likeliest classes that were not chosen; without a choice all of them, in their order."""
    rows = [(name, p) for name, p in classes.probabilities.items() if name != classes.chosen]
    if classes.chosen:
        rows = [(name, p) for name, p in sorted(rows, key=lambda row: -row[1])[:MOST_OTHERS] if p >= 0.005]
    return ", ".join(f"{shown(name)}{':' * name[-1:].isdigit()} {p:.2f}" for name, p in rows)


def _judged_letters(text: str, wrong: Sequence[bool], width: int, colour: bool) -> Iterator[Text]:
    """Yield lines with the wrong letters in red, or, without colour, with marks under them."""
    begin = 0
    while begin < len(text):
        blank = text.rfind(" ", begin + 1, begin + width + 1)
        end = len(text) if len(text) - begin <= width else blank if blank >= 0 else begin + width
        parts = zip(text[begin:end], wrong[begin:end], strict=True)
        yield Text.assemble(*((letter, WRONG if bad else "") for letter, bad in parts))
        if any(wrong[begin:end]) and not colour:
            yield Text("".join(MARK if bad else " " for bad in wrong[begin:end]).rstrip())
        begin = end + (text[end : end + 1] == " ")


def _bars(classes: Classes, screen: Screen) -> Table:
    table, names = Table.grid("", Column(no_wrap=True), padding=(0, 1)), classes.likeliest(MOST_CLASSES)
    for name in names:
        p, style = classes.probabilities[name], "bold" if name == classes.chosen else ""
        table.add_row(Text("  " + shown(name), style), f"{p:.2f}", Text(bar(p, BAR, screen.ascii_only), "blue"))
    if left_out := len(classes.probabilities) - len(names):
        table.add_row(Text(f"  and {left_out} more {classes.noun}", "dim"))
    return table


def bar(strength: float, cells: int, ascii_only: bool) -> str:
    """A bar of `strength` from 0 to 1 that takes at most `cells` letters."""
    if ascii_only:
        return "#" * round(strength * cells)
    full, eighths = divmod(round(strength * cells * 8), 8)
    return "█" * full + ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths]


def shade(strength: float) -> Style:
    """The style of a text of `strength` from 0 to 1."""
    return Style(color="#10151f", bgcolor=mixed(PALE, DEEP, strength))


@lines.register
def _(block: Passage, screen: Screen) -> Iterator[RenderableType]:
    yield Text()
    if not block.sentences:
        yield Text("(no words)", "dim")
        return
    bars, shades = block.bars, block.shades() or [[0.0] * len(sentence.words) for sentence in block.sentences]
    margin = [] if bars is None else [Column(no_wrap=True), Column(no_wrap=True, min_width=SENTENCE_BAR)]
    table = Table.grid(*margin, Column(ratio=1), padding=(0, 1))
    for s, sentence in enumerate(block.sentences):
        cells: list[RenderableType] = [_words(sentence.words, sentence.unknown, shades[s], screen.colour)]
        if bars is not None:
            length = Text(bar(bars[s], SENTENCE_BAR, screen.ascii_only), "red")
            cells = [f"{sentence.weight:.2f}", length, *cells]
        table.add_row(*cells)
    yield table


def _words(words: Sequence[str], unknown: Collection[int], strengths: Sequence[float], colour: bool) -> Text:
    text, open_mark = Text(), ""
    for i, (word, strength) in enumerate(zip(words, strengths, strict=True)):
        mark = "" if colour else "**" if strength >= STRONG else "*" if strength >= MARKED else ""
        if mark != open_mark:
            text.append(open_mark)
        text.append(" " if i else "")
        text.append(mark if mark != open_mark else "")
        text.append(shown(word), shade(strength) if colour and strength >= VISIBLE else None)
        if i in unknown:
            text.append(UNKNOWN, "dim")
        open_mark = mark
    text.append(open_mark)
    return text


@lines.register
def _(block: Grid, screen: Screen) -> Iterator[RenderableType]:
    grid = block.cut(MOST_ROWS, max(1, (screen.width - 20) // 6))
    numbers = [Column(no_wrap=True, justify="right") for _ in grid.columns]
    table = Table.grid(*numbers, Column(ratio=1), padding=(0, 1))
    if grid.columns:
        table.add_row(*(Text(shown(name), "dim") for name in grid.columns), "")
    for r, (name, row) in enumerate(zip(grid.rows, grid.weights, strict=True)):
        cells = (_number(weight, (r, c) in grid.strongest, screen.colour) for c, weight in enumerate(row))
        table.add_row(*cells, Text(shown(name)))
    if grid.rest is not None:
        table.add_row(*(_number(weight, False, screen.colour) for weight in grid.rest), Text("(empty memory)", "dim"))
    if grid.asked:
        table.add_row(*[""] * len(grid.columns), Text(shown(grid.asked), "bold"))
    yield Text()
    yield table
    if grid.note:
        yield Text(f"... {grid.note}", "dim")


def _number(weight: float, strongest: bool, colour: bool) -> Text:
    if not colour:
        return Text(f"{'*' if strongest else ' '}{weight:.2f}")
    style = Style(bold=strongest)
    return Text(f" {weight:.2f}", style + shade(min(1.0, weight)) if weight >= VISIBLE else style)


@lines.register
def _(block: Rows, screen: Screen) -> Iterator[RenderableType]:
    table = Table.grid(padding=(0, 2))
    for row in [*[block.titles] * bool(block.titles), *block.rows]:
        first, *others = (Text(shown(str(cell))) for cell in row)
        first.stylize("dim")
        table.add_row(first, *others)
    yield table


@lines.register
def _(block: Columns, screen: Screen) -> Iterator[RenderableType]:
    table = Table.grid("", *(Column(justify="right") for _ in block.titles), padding=(0, 2))
    table.add_row("", *(Text(shown(title), "dim") for title in block.titles))
    for r, (name, *values) in enumerate(block.rows):
        cells = (_best(shown(value), (r, c) in block.best, screen.colour) for c, value in enumerate(values))
        table.add_row(Text(shown(name), "dim"), *cells)
    yield Text()
    yield table
    if block.best and not screen.colour:
        yield Text("* best", "dim")


def _best(text: str, best: bool, colour: bool) -> Text:
    return Text(f"{'*' * (best and not colour)}{text}", "bold green" if best else "")


@lines.register
def _(block: Note, screen: Screen) -> Iterator[RenderableType]:
    yield Text(shown(block.text), "dim")
