"""A real Chromium, offline, and reports to open in it from disk."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from groundeval.stages.report import report
from report import tree
from report.pages import EVIL
from tests.audit.project import made_alone

CHROMIUM = shutil.which("chromium")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
SAMPLES = 3000


@dataclass
class Site:
    """A report on disk, and how to open a page of it."""

    folder: Path

    @property
    def pages(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("*.html"))

    def address(self, page: str) -> str:
        name, hash_, rest = page.partition("#")
        return (self.folder / name).resolve().as_uri() + hash_ + rest


@dataclass
class Tab:
    """A page of the browser, with all that it complained about or asked for."""

    page: Page
    said: list[str] = field(default_factory=list)

    def watch(self) -> None:
        self.page.on("console", lambda message: self.said.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: self.said.append(f"dialog: {dialog.message}"))
        self.page.on("request", lambda request: self._asked(request.url))

    def _asked(self, address: str) -> None:
        if not address.startswith(("file:", "data:image/png;base64,")):
            self.said.append(f"request: {address[:80]}")


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("Chromium is absent (Debian package chromium)")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM, args=FLAGS, downloads_path=tmp_path_factory.mktemp("d")
        )
        yield started
        started.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Tab]]:
    """Open a page of a report in a new context; at the end, nothing was said and nothing asked for."""
    made: list[tuple[BrowserContext, Tab]] = []

    def opener(site: Site, page: str, width: int = 1280, **more: object) -> Tab:
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **more)  # type: ignore[arg-type]
        tab = Tab(context.new_page())
        tab.watch()
        tab.page.goto(site.address(page))
        made.append((context, tab))
        return tab

    yield opener
    for context, tab in made:
        context.close()
        assert tab.said == []


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Boards of masks, of boxes and of maps, with images where the demo has them."""
    root = tmp_path_factory.mktemp("demo")
    files: list[Path] = []
    for benchmark in ("grin_drive", "kitti_semantic"):
        part = tmp_path_factory.mktemp(benchmark)
        made_alone(part, benchmark, "almost")
        shutil.copytree(part / "data", root / "data", dirs_exist_ok=True)
        shutil.copytree(part / "results" / benchmark, root / "results" / benchmark)
    files = sorted(root.glob("results/*/*/*/metrics.json"))
    files += tree.grefcoco(root, [f"{n}:{n}" for n in range(1000, 1060)], ["the dog"] * 60, ["one", "two"])
    return Site(report(files, root / "report", root).index.parent)


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Thousands of samples and four models."""
    root = tmp_path_factory.mktemp("large")
    ids = [f"{number}:{number}" for number in range(10_000, 10_000 + SAMPLES)]
    texts = [f"the {('zebra', 'man', 'café')[n % 3]} number {n}" for n in range(SAMPLES)]
    files = tree.grefcoco(root, ids, texts, [f"model{number}" for number in range(4)])
    return Site(report(files, root / "report", root).index.parent)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Names, instructions and images that would act if they could."""
    root = tmp_path_factory.mktemp("hostile")
    texts = [f"{EVIL} {number}" for number in range(100, 130)]
    files = tree.grefcoco(root, texts, texts, ["one", "two"], texts, EVIL)
    return Site(report(files, root / "report", root).index.parent)
