"""The explorer's page: a tab for each task, with the form, the answers and their attention."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files as resources
from typing import Any

from zoo.errors import ZooError
from zoo.explore import answers, permalink
from zoo.explore.network import Network
from zoo.explore.permalink import Asked
from zoo.visualize.view import Field

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when gradio is imported

import gradio as gr

NOTHING = "no other network"
EXAMPLES = 6  # Rows of examples that a tab shows at once
FONT = ("system-ui", "Segoe UI", "Roboto", "sans-serif")
ABOUT = (
    "# attention-zoo\nType an input, or choose an example, and see what a network answers and what it attended to. "
    "Everything is computed on the machine that serves this page."
)
TO_ADDRESS_BAR = "html => { toAddressBar(html); return []; }"


def build(networks: Sequence[Network]) -> gr.Blocks:
    """Return the page for some networks, with one tab for the networks of each task."""
    groups: dict[tuple[Any, ...], list[Network]] = {}  # by task, and by form, e.g. points in a plane, or numbers
    for network in networks:
        groups.setdefault((network.task, network.form), []).append(network)
    with gr.Blocks(title="attention-zoo", analytics_enabled=False, delete_cache=(3600, 3600)) as page:
        gr.Markdown(ABOUT)
        ready = gr.Textbox("", visible=False)  # "yes" as soon as the page has what its address asks for
        with gr.Tabs(overflow_behavior="wrap") as tabs:
            tasks = Counter(task for task, _ in groups)
            made = [
                Tab(number, some, ready, named=tasks[task] > 1)
                for number, ((task, _), some) in enumerate(groups.items())
            ]
        changed = [ready, tabs, *(part for tab in made for part in tab.changed)]

        def opened(request: gr.Request) -> list[Any]:
            return ["yes", *_opened(made, request.query_params)]

        page.load(opened, outputs=changed, api_visibility="private")
    return page


def look() -> dict[str, Any]:
    """Return the theme, the style and the script of the page, as gradio's servers take them."""
    return {
        "theme": gr.themes.Base(font=FONT, font_mono=("ui-monospace", "Consolas", "monospace")),
        "css": _resource("explore.css"),
        "head": f"<script>{_resource('explore.js')}</script>",
        "footer_links": [],
        "run_history": False,
    }


def _resource(name: str) -> str:
    return resources("zoo.explore").joinpath(name).read_text(encoding="utf-8")


class Tab:
    """The form of a task, and the answers of one or two of its networks.

    `number` is that of the tab. With `named`, its title has the name of a network. While the component `ready` is
    empty, opening the tab answers nothing.
    """

    def __init__(self, number: int, networks: Sequence[Network], ready: Any, *, named: bool = False) -> None:
        self.number, self.networks = number, {network.name: network for network in networks}
        names, first = list(self.networks), networks[0]
        self.form = first.form
        title = first.task.replace("_", " ").capitalize() + f": {first.name}" * named
        with gr.Tab(title, id=number) as tab:
            with gr.Row(visible=len(names) > 1):
                self.first = gr.Dropdown(names, value=names[0], label="Network")
                self.second = gr.Dropdown([NOTHING, *names], value=NOTHING, label="Beside it")
            examples = first.examples
            self.example: list[str | None] = [*examples[0]] if examples else [None] * len(self.form)
            self.fields = [_field(field, value) for field, value in zip(self.form, self.example, strict=True)]
            if examples:
                gr.Examples(examples, self.fields, examples_per_page=EXAMPLES, api_visibility="private")
            button = gr.Button("Answer", variant="primary")
            self.shown = gr.HTML(elem_classes="shown")
            self.downloads = gr.HTML()
            self.address = gr.HTML()
            for network in networks:
                with gr.Accordion(f"About {network.name}", open=False):
                    gr.Markdown(network.card)
        self.inputs = [self.first, self.second, *self.fields]
        results = [self.shown, self.address]
        hidden: dict[str, Any] = {"api_visibility": "private", "show_progress": "minimal"}
        for event in (button.click, *(field.submit for field in self.fields if isinstance(field, gr.Textbox))):
            event(self.answer, self.inputs, results, **hidden)
        tab.select(self.first_answer, [ready, self.shown, *self.inputs], results, **hidden)
        self.address.change(None, self.address, js=TO_ADDRESS_BAR, **hidden)
        self.shown.change(self.saved, self.inputs, self.downloads, **hidden)

    @property
    def changed(self) -> list[Any]:
        """The parts that an address sets."""
        return [*self.inputs, self.shown, self.address]

    def answer(self, first: str, second: str, *values: str | None) -> tuple[str, str]:
        """Return the answers and a link to them, as HTML."""
        try:
            found = [self.networks[name](values) for name in self._names(first, second)]
        except ZooError as error:
            return answers.problem(str(error)), ""
        asked = Asked([answer.network.name for answer in found], [value or "" for value in values])
        try:
            link = answers.link(permalink.query(asked, self.form))
        except ZooError as error:
            link = answers.problem(str(error))
        return answers.shown_answers(found), link

    def first_answer(self, ready: str, shown: str, *inputs: Any) -> tuple[Any, Any]:
        """Answer when the tab is opened for the first time."""
        return self.answer(*inputs) if ready and not shown and all(inputs) else (gr.skip(), gr.skip())

    def saved(self, first: str, second: str, *values: str | None) -> str:
        """Return links to the files of the answers; nothing for an input that cannot be used."""
        names = self._names(first, second)
        try:
            found = [self.networks[name](values) for name in names]
        except ZooError:
            return ""
        made = answers.files(found, [value or "" for value in values])
        return answers.links(made, self.networks[first].task)

    def _names(self, first: str, second: str) -> list[str]:
        return [first] if second in (NOTHING, first) else [first, second]


def _field(field: Field, value: str | None) -> Any:
    """Return the component of a field."""
    label = field.label[:1].upper() + field.label[1:]
    if field.kind == "image":
        return gr.Image(value, type="filepath", label=label, sources=["upload", "clipboard"], height=240)
    if field.kind == "file":
        return gr.File(value, type="filepath", label=label)
    if field.kind == "text":
        return gr.Textbox(value, label=label, lines=field.lines, max_lines=max(12, field.lines))
    with gr.Row():
        with gr.Column(min_width=280):
            text = gr.Textbox(value, label=label, lines=field.lines, max_lines=12)
        with gr.Column(min_width=280):
            pad = gr.HTML(value, html_template=_resource("pad.html"), js_on_load=_resource("pad.js"))
    same = "text => text"
    pad.input(None, pad, text, js=same, api_visibility="private")
    text.change(None, text, pad, js=same, api_visibility="private")
    return text


def _opened(tabs: Sequence[Tab], given: Any) -> list[Any]:
    """Return the values of `Tabs` and of all `Tab.changed` for the query with which the page was opened."""
    names, problem, chosen, asked = given.getlist("network"), "", tabs[0], None
    if names:
        try:
            forms = {name: tab.form for tab in tabs for name in tab.networks}
            asked = permalink.read(names[:2], given.getlist("input"), forms)
            chosen = next(tab for tab in tabs if names[0] in tab.networks)
        except ZooError as error:
            problem = answers.problem(str(error))
    found: list[Any] = [gr.Tabs(selected=chosen.number)]
    for tab in tabs:
        if tab is not chosen:
            found += [gr.skip()] * len(tab.changed)
            continue
        inputs = [tab.first.value, NOTHING, *tab.example]
        if asked is not None:
            second = asked.networks[1] if len(asked.networks) > 1 else NOTHING
            inputs = [asked.networks[0], second, *asked.values]
        elif problem:
            inputs = [*inputs[:2], *[None] * len(tab.fields)]
        answer = (problem, "") if problem or not all(inputs) else tab.answer(*inputs)
        found += [*inputs, *answer]
    return found
