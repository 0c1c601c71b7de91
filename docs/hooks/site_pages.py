"""A hook of mkdocs: adds the pages that are not files of docs, and makes their links lead inside the site.

Pages outside docs, such as README.md and results/, are read where they are. The page of a paper is made from its
module. A link to any other file of the repository leads to a page with its code. Links in the files are relative, so
that they also work where the repository is read.
"""

import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # mkdocs adds only the folder of this file

from docs.hooks import papers  # noqa: E402
from zoo.run import catalogue  # noqa: E402

OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "benchmarks.md",
    **{f"results/{path.name}": f"results/{path.name}" for path in sorted((ROOT / "results").glob("*.md"))},
}
"""The pages outside docs, and their places in the site."""
LINK = re.compile(r"(\]\()(?!https?://|mailto:|#)([^)#\s]+)(#[^)\s]*)?(\))")
FENCED = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
FROM_ELSEWHERE = re.compile(r"""<(?!a\b)\w+\b[^>]*\b(?:src|href|data)=["']?(?:https?:)?//[^>]*>""")
"""A part of a page that a browser would load from another server; links of the text are not loaded."""
LANGUAGES = {".py": "python", ".yaml": "yaml", ".cff": "yaml", ".toml": "toml"}


log = logging.getLogger("mkdocs.hooks.site_pages")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the papers to the navigation, by task."""
    assert config.nav is not None
    (entry,) = [entry for entry in config.nav if "Papers" in entry]
    for task, names in by_task().items():
        heading = papers.title(ROOT / "docs" / "guides" / f"{task}.md")
        entry["Papers"].append({heading: [{name: f"papers/{name}.md"} for name in names]})
    return config


def by_task() -> dict[str, list[str]]:
    """The models of each task by year; those of several tasks are listed with the first one."""
    found: dict[str, list[str]] = {path.stem: [] for path in sorted((ROOT / "docs" / "guides").glob("*.md"))}
    year = {name: re.findall(r"\b(?:19|20)\d\d\b", entry.source)[0] for name, entry in catalogue.models().items()}
    for name in sorted(year, key=lambda name: (year[name], name)):
        found[catalogue.models()[name].tasks[0]].append(name)
    return {task: names for task, names in found.items() if names}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages outside docs, those of the papers, and the files that pages link to."""
    for path, uri in OUTSIDE.items():
        files.append(File.generated(config, uri, content=(ROOT / path).read_text(encoding="utf-8")))
    for name, entry in catalogue.models().items():
        files.append(File.generated(config, f"papers/{name}.md", content=papers.paper_page(entry)))
    waiting = [file for file in files if file.is_documentation_page()]
    while waiting:
        file = waiting.pop()
        for path in linked(file.content_string, origin(file.src_uri)):
            uri = place(path)
            if uri.startswith("code/") and files.get_file_from_path(uri) is None:
                page = File.generated(config, uri, content=code_page(path), inclusion=InclusionLevel.NOT_IN_NAV)
                files.append(page)
                waiting.append(page)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make the links of a page lead to the pages of the site."""
    here, uri = origin(page.file.src_uri), page.file.src_uri
    if page.parent is None:  # a tab of its own
        page.meta["hide"] = ["navigation"]
    if uri == "changelog.md":
        page.meta["search"] = {"boost": 0.3}

    def changed(match: re.Match[str]) -> str:
        before, link, anchor, after = match.groups()
        target = os.path.relpath(place(target_of(here, link)), os.path.dirname(uri) or ".")
        return f"{before}{Path(target).as_posix()}{anchor or ''}{after}"

    return outside_code(markdown, lambda text: LINK.sub(changed, text))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Warn of a page that loads something from another server, which ends a strict build."""
    for part in loaded(output):
        log.warning("%s loads from elsewhere: %s", page.file.src_uri, part)
    return output


def loaded(html: str) -> list[str]:
    """The parts of a page that a browser would load from another server."""
    return [match for match in FROM_ELSEWHERE.findall(html) if 'rel="canonical"' not in match]


def origin(uri: str) -> str:
    """The path in the repository of a page of the site, from which its links start."""
    outside = {place: path for path, place in OUTSIDE.items()}
    if uri.startswith("code/"):
        return uri.removeprefix("code/").removesuffix(".md")
    return outside.get(uri, f"docs/{uri}")


def place(path: str) -> str:
    """The place in the site of a path in the repository."""
    models = {entry.file: f"papers/{name}.md" for name, entry in catalogue.models().items()}
    if path in OUTSIDE or path in models:
        return OUTSIDE.get(path) or models[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"code/{path}/index.md" if (ROOT / path).is_dir() else f"code/{path}.md"


def target_of(here: str, link: str) -> str:
    """The path in the repository that a link of the page `here` leads to."""
    return os.path.normpath(os.path.join(os.path.dirname(here), link))


def linked(text: str, here: str) -> Iterator[str]:
    """The paths in the repository that a page links to."""
    for _, link, _, _ in LINK.findall(FENCED.sub("", text)):
        if (ROOT / (path := target_of(here, link))).exists():
            yield path


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Change a page except in its blocks of code."""
    found, end = [], 0
    for match in FENCED.finditer(text):
        found += [change(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*found, change(text[end:])])


def code_page(path: str) -> str:
    """The page of a file, or of a folder with its files. The search leaves it out."""
    head = f"---\nsearch:\n  exclude: true\n---\n\n# {path}\n\n"
    there = ROOT / path
    if there.is_dir():
        names = sorted(one.relative_to(there).as_posix() for one in there.glob("*.py"))
        return head + "\n".join(f"- [`{name}`]({name})" for name in names)
    text = there.read_text(encoding="utf-8")
    return head + papers.fenced(LANGUAGES.get(there.suffix, "text"), text) + "\n"
