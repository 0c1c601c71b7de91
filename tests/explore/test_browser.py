"""`zoo explore` in Chromium: every tab answers, pointing changes what is shown, and nothing leaves the machine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

from tests.catalogue import ROOT
from tests.visualize.reading import CHROMIUM, EVIL, chrome
from zoo.run.weights import included

pytest.importorskip("gradio", reason="the extra `explore` is not installed")
pytest.importorskip("selenium", reason="the extra `test` is not installed")
DRIVER = shutil.which("chromedriver")
if CHROMIUM is None or DRIVER is None:
    pytest.skip("needs Chromium and chromedriver", allow_module_level=True)

SERVER = """
import socket, sys
connect = socket.socket.connect
def local(self, address):
    if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
        print("LEFT THE MACHINE", address, flush=True)
        raise OSError("no network")
    return connect(self, address)
socket.socket.connect = local
from zoo.cli import main
main(["explore", "--port", "0", "--no-browser", *sys.argv[1:]])
"""


class Explorer(NamedTuple):
    """A server, and a browser that looks at it."""

    address: str
    twin: str  # The name of a second network for classification
    browser: Any
    output: Path

    def open(self, query: str = "") -> None:
        self.browser.get(self.address + query)
        self.wait("return document.querySelectorAll('[role=tab]').length >= 12")
        self.answered()

    def tab(self, title: str) -> None:
        script = "[...document.querySelectorAll('[role=tab]')].find(b => b.textContent.trim() === arguments[0]).click()"
        self.browser.execute_script(script, title)
        self.answered()

    def answered(self) -> None:
        """Wait until the open tab has an answer and links to its files."""
        self.wait(f"return {OPEN} && {OPEN}.querySelector('iframe.answer, .problem') !== null")
        self.wait(f"return {OPEN}.querySelector('.problem, .downloads') !== null")

    def wait(self, script: str, seconds: float = 30) -> Any:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := self.browser.execute_script(script):
                return found
            time.sleep(0.1)
        raise AssertionError(f"{script}: not in {seconds} s")

    def heading(self, number: int = 0) -> str:
        """The answer in a frame."""
        return str(
            self.wait(
                f"return {OPEN}.querySelectorAll('iframe.answer')[{number}]?.contentDocument?.querySelector('h2')"
                "?.textContent"
            )
        )


OPEN = "[...document.querySelectorAll('[role=tabpanel]')].find(p => p.offsetParent !== null)"


@pytest.fixture(scope="module")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    folder = tmp_path_factory.mktemp("explore")
    twin = shutil.copytree(included()["han"], folder / "twin")
    output = folder / "output.txt"
    with output.open("w") as file:
        words = [sys.executable, "-c", SERVER, *included(), str(twin)]
        server = subprocess.Popen(words, stdout=file, stderr=subprocess.STDOUT, cwd=ROOT)
    try:
        for _ in range(600):
            if server.poll() is not None or (found := re.search(r"http://\S+", output.read_text())):
                break
            time.sleep(0.1)
        assert server.poll() is None and found, output.read_text()
        with chrome() as browser:
            browser.implicitly_wait(10)
            yield Explorer(f"{found[0]}/", str(twin), browser, output)
    finally:
        server.terminate()
        server.wait(10)


@contextmanager
def phone(browser: Any) -> Iterator[None]:
    """The screen of a phone, 390 pixels wide."""
    screen = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


TABS = {
    "Classification": "3 stars",
    "Cloze": "Edgar",
    "Answering": "kitchen",
    "Algorithmic": "10111101 01001111 11100010",
    "Pointing": "1 2 4 5",
    "Captioning": "there is a large purple square and a small green triangle to its left",
    "Translation": "jan is laughing as soon as the cat is falling asleep.",
    "Tree classification": "very positive",
    "Relatedness": "2.87",
    "Summarization: pointer_generator": "Zyzzyva opens library in Quuxhaven on friday, plans by Blorptin.",
    "Summarization: t_dmca": "dunmere is built of granite, is known for brewing, was ruled by bishops.",
    "Dialogue": "you live in oslo.",
    "Density": "sample 1",
    "Wave density": "C major",
    "Handwriting": "hello world",
    "Adversarial": "7",
}


@pytest.mark.slow
def test_every_tab_answers_fits_a_phone_and_nothing_leaves_the_machine(explorer: Explorer) -> None:
    explorer.open()
    with phone(explorer.browser):
        for title, expected in TABS.items():
            explorer.tab(title)
            assert explorer.heading().startswith(expected[:60]), title
            assert explorer.wait("return document.scrollingElement.scrollWidth") <= 390, title
            unnamed = (
                f"return [...{OPEN}.querySelectorAll('input, textarea, button, iframe, svg[role]')].filter(e => "
                "e.offsetParent && !e.labels?.length && !e.ariaLabel && !e.title && !e.textContent.trim()"
                "&& !e.closest('[aria-hidden=true]')).map(e => e.outerHTML)"
            )
            assert explorer.browser.execute_script(unnamed) == [], title
            height = f"return {OPEN}.querySelector('iframe.answer').getBoundingClientRect().height"
            content = f"{OPEN}.querySelector('iframe.answer').contentDocument.documentElement.scrollHeight"
            explorer.wait(f"{height} >= {content}")
    requested = {
        message["params"]["request"]["url"]
        for entry in explorer.browser.get_log("performance")
        if (message := json.loads(entry["message"])["message"])["method"] == "Network.requestWillBeSent"
    }
    assert len(requested) > 10
    assert {url for url in requested if not url.startswith((explorer.address, "data:", "blob:", "about:"))} == set()
    assert "LEFT" not in explorer.output.read_text()


@pytest.mark.slow
def test_pointing_at_a_word_shows_where_it_looked(explorer: Explorer) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.select import Select

    explorer.open("?network=transformer&input=" + quote("jan lacht, sobald die katze einschläft."))
    assert explorer.heading() == TABS["Translation"]
    frame = explorer.wait(f"return {OPEN}.querySelector('iframe.map')")
    explorer.browser.execute_script("arguments[0].scrollIntoView()", frame)
    explorer.browser.switch_to.frame(frame)
    said = explorer.browser.find_element(By.ID, "said")
    (cat,) = [one for one in explorer.browser.find_elements(By.CSS_SELECTOR, "#rows button") if one.text == "cat"]
    ActionChains(explorer.browser).move_to_element(cat).perform()
    assert said.text.startswith("cat → katze: ")
    mean = said.text
    Select(explorer.browser.find_element(By.ID, "layer")).select_by_visible_text("2")
    Select(explorer.browser.find_element(By.ID, "head")).select_by_visible_text("3")
    explorer.wait("return document.getElementById('said').textContent !== " + json.dumps(mean))
    explorer.browser.switch_to.default_content()
    explorer.tab("Classification")
    frame = explorer.wait(f"return {OPEN}.querySelector('iframe.answer')")
    explorer.browser.switch_to.frame(frame)
    word = explorer.browser.find_element(By.CSS_SELECTOR, ".w[data-tip]")
    tip = "return getComputedStyle(arguments[0], '::after').content"
    assert explorer.browser.execute_script(tip, word) == "none"
    ActionChains(explorer.browser).move_to_element(word).perform()
    assert "weight" in explorer.browser.execute_script(tip, word) or "." in explorer.browser.execute_script(tip, word)
    explorer.browser.switch_to.default_content()


@pytest.mark.slow
def test_two_networks_answer_side_by_side_and_the_address_brings_both_back(explorer: Explorer) -> None:
    text = quote("The food was lovely. The service was poor.")
    explorer.open(f"?network=han&network={quote(explorer.twin)}&input={text}")
    assert explorer.heading(0) == explorer.heading(1) == "3 stars"
    boxes = explorer.browser.execute_script(
        f"return [...{OPEN}.querySelectorAll('section')].map(s => s.getBoundingClientRect()).map(b => [b.left, b.top])"
    )
    assert boxes[0][1] == boxes[1][1] and boxes[0][0] < boxes[1][0]
    names = explorer.browser.execute_script(f"return [...{OPEN}.querySelectorAll('a[download]')].map(a => a.download)")
    assert names == ["classification.png", "classification.html", "classification.json"]
    explorer.open("?network=nobody&input=x")
    assert "nobody: this network is not served here" in explorer.wait(f"return {OPEN}.textContent")


@pytest.mark.slow
def test_the_keyboard_and_the_pad_enter_an_input_whose_address_holds_it(explorer: Explorer) -> None:
    from selenium.webdriver import ActionChains, Keys
    from selenium.webdriver.common.by import By

    explorer.open()
    field = explorer.wait(f"return {OPEN}.querySelector('textarea')")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("The lounge was by no means poor.", Keys.SHIFT, Keys.ENTER)
    explorer.wait("return location.search.includes('lounge')")
    explorer.wait(f"return {OPEN}.querySelector('iframe.answer').srcdoc.includes('lounge')")
    drop = f"""
        const given = new DataTransfer(), field = {OPEN}.querySelector('textarea');
        given.items.add(new File(["The host was pretty upsetting.\\n"], "review.txt"));
        field.dispatchEvent(new DragEvent("drop", {{ dataTransfer: given, bubbles: true }}));
    """
    explorer.browser.execute_script(drop)
    explorer.wait(f"return {OPEN}.querySelector('textarea').value === 'The host was pretty upsetting.'")
    explorer.wait(f"return {OPEN}.querySelector('button.primary').click() ?? true")
    explorer.wait("return location.search.includes('upsetting')")
    explorer.tab("Pointing")
    before = explorer.wait(f"return {OPEN}.querySelector('textarea').value")
    pad = explorer.browser.find_element(By.CSS_SELECTOR, "svg.pad")
    ActionChains(explorer.browser).move_to_element(pad).click().perform()
    explorer.wait(f"return {OPEN}.querySelector('textarea').value.split('\\n').length === 6")
    text = explorer.wait(f"return {OPEN}.querySelector('textarea').value")
    assert [float(one) for one in text.split()[-2:]] == pytest.approx([0.5, 0.5], abs=0.01)
    assert [float(one) for one in text.split()[:-2]] == [float(one) for one in before.split()]
    assert len(explorer.browser.find_elements(By.CSS_SELECTOR, "svg.pad circle")) == 6


@pytest.mark.slow
def test_no_script_of_a_text_runs(explorer: Explorer) -> None:
    text = quote(" lovely ".join(EVIL))
    for query in (f"?network=han&input={text}", f"?network=transformer&input={text}", f"?network={text}&input=x"):
        explorer.open(query)
        assert explorer.browser.title == "attention-zoo"
        frames = f"return [...{OPEN}.querySelectorAll('iframe.answer')].map(f => f.contentDocument.title)"
        assert set(explorer.browser.execute_script(frames)) <= {"answer"}
