"""The site: pages of papers made from modules, and links that lead to the right pages. .ci/run builds it whole."""

import pytest

from docs.hooks import papers, site_pages
from docs.hooks.papers import chosen_model, paper_page, prose, section
from docs.hooks.site_pages import loaded, origin, outside_code, place
from results.table import read
from tests.catalogue import MODELS, ROOT
from zoo.run import catalogue
from zoo.run.compose import compose


@pytest.mark.parametrize("name", MODELS)
def test_a_paper_has_its_title_its_differences_its_code_its_results_and_its_experiments(name: str) -> None:
    entry = catalogue.models()[name]
    page = paper_page(entry)
    headings = [line.lstrip("# ") for line in page.splitlines() if line.startswith(("# ", "## ", "### "))]
    assert headings[0] == entry.title
    assert any(heading.startswith("What differs from the paper") for heading in headings)
    assert (ROOT / entry.file).read_text(encoding="utf-8").rstrip().endswith(page_code(page))
    rows = [row for path in (ROOT / "results").glob("*.csv") for row in read(path) if row.model == name]
    assert rows and all(f"| {row.model} | {row.data} ({row.source}) | {row.metric} |" in page for row in rows)
    assert any(experiment in headings for experiment in catalogue.experiments())


def page_code(page: str) -> str:
    fence = papers.FENCE
    return page.partition(f"{fence}python\n")[2].partition(f"\n{fence}")[0]


def test_every_experiment_is_on_the_page_of_one_model() -> None:
    chosen = {name: chosen_model(ROOT / "conf" / "experiment" / f"{name}.yaml") for name in catalogue.experiments()}
    assert set(chosen.values()) == set(MODELS)
    for name in ("han_yelp2013", "rnnsearch_multi30k", "show_attend_tell_coco_hard"):  # of recipes of recipes
        assert compose([f"experiment={name}"]).hydra.runtime.choices.model == chosen[name]


def test_symbols_of_a_docstring_are_not_markup_and_files_are_links() -> None:
    assert prose("r * (U_1 h) < h~, [a; b] of `x_1`") == r"r \* (U\_1 h) &lt; h~, \[a; b\] of `x_1`"
    assert prose("see (https://arxiv.org/abs/1410.5401).") == "see (<https://arxiv.org/abs/1410.5401>)."
    assert prose("(results/trees.md), `zoo/cli.py` or zoo/no.py") == (
        "([results/trees.md](../../results/trees.md)), [zoo/cli.py](../../zoo/cli.py) or `zoo/no.py`"
    )


def test_equations_are_lines_of_their_own_in_and_outside_of_lists() -> None:
    text = "Equations (section 2):\n- one, of\n  two lines:\n      a = b,\n  c.\n- last"
    lines = ["- one, of two lines:", "    `#!text a = b,`", "    c.", "- last"]
    assert shown(text) == ["## Equations (section 2)", *lines]
    assert shown("Equations: with v\n    p = v,\nand q") == ["## Equations", "With v", "`#!text p = v,`", "and q"]
    long = "What differs from the paper; the code of its authors, which is public, differs too:\n- all"
    assert shown(long)[:2] == [
        "## What differs from the paper",
        "The code of its authors, which is public, differs too:",
    ]


def shown(paragraph: str) -> list[str]:
    """The lines of a part that are not empty."""
    return [line for line in "\n".join(section(paragraph)).splitlines() if line]


def test_a_path_of_the_repository_has_one_place_in_the_site() -> None:
    places = {
        "README.md": "index.md",
        "docs/guides/cloze.md": "guides/cloze.md",
        "results/trees.md": "results/trees.md",
        "zoo/models/han.py": "papers/han.md",
        "zoo/data/documents/batch.py": "code/zoo/data/documents/batch.py.md",
        "zoo/attention": "code/zoo/attention/index.md",
    }
    assert {path: place(path) for path in places} == places
    assert [origin(places[path]) for path in places if not path.startswith("zoo/")] == [*places][:3]


def test_links_in_code_stay_as_they_are() -> None:
    page = "[a](b)\n```py\n[a](b)\n```\n[a](b)\n"
    assert outside_code(page, lambda text: text.replace("b", "c")) == "[a](c)\n```py\n[a](b)\n```\n[a](c)\n"
    assert [*site_pages.linked("[a](cli.py) [b](none.py)\n```py\n[c](errors.py)\n```\n", "zoo/x")] == ["zoo/cli.py"]


def test_what_a_page_loads_from_elsewhere_is_found() -> None:
    script, font = '<script src="https://x.org/a.js">', "<link rel=stylesheet href=//x.org/a.css>"
    assert loaded(f'<a href="https://x.org">x</a>{script}<img src="a.png">{font}') == [script, font]
