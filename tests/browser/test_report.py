"""The report in a real browser, from disk and offline: it works, it is quiet, it is accessible, and it fits a phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from report.pages import SEEN
from tests.browser.conftest import SAMPLES, Site, Tab

Opener = Callable[..., Tab]
SERIOUS = ("serious", "critical")
LARGE = "grefcoco-val.samples.html"


def first_cells(tab: Tab, column: int = 0) -> list[str]:
    script = f"[...document.querySelectorAll('#rows tbody tr:not(.more)')].map(row => row.cells[{column}].innerText)"
    found: list[str] = tab.page.evaluate(script)
    return found


def overflow(tab: Tab) -> int:
    found: int = tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return found


def violations(tab: Tab, *rules: str) -> dict[str, list[str]]:
    """What axe finds in the page as it is now, by these rules or by all: rule -> elements."""
    options = {"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {})
    found: Any = tab.page.evaluate("options => axe.run(options)", options)
    serious = [rule for rule in found["violations"] if rule["impact"] in SERIOUS]
    return {rule["id"]: [node["html"][:200] for node in rule["nodes"][:3]] for rule in serious}


def test_every_page_is_quiet_accessible_in_both_themes_and_fits_a_phone(demo: Site, opened: Opener) -> None:
    """With all that can be opened open. A theme changes colours alone, so in the second only these are looked at."""
    tab, found = opened(demo, "index.html", width=360), {}
    for name in demo.pages:
        tab.page.emulate_media(color_scheme="light")
        tab.page.goto(demo.address(name))
        tab.page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
        if row := tab.page.query_selector("#rows tbody button"):
            row.click()
        assert overflow(tab) <= 0, name
        tab.page.evaluate(Axe().axe_script)
        found[name, "light"] = violations(tab)
        tab.page.emulate_media(color_scheme="dark")
        found[name, "dark"] = violations(tab, "color-contrast")
    assert {page: said for page, said in found.items() if said} == {}
    assert len(demo.pages) == 10


@pytest.mark.parametrize("width", [768, 1280])
def test_no_page_scrolls_sideways(demo: Site, opened: Opener, width: int) -> None:
    tab = opened(demo, "index.html", width=width)
    for name in demo.pages:
        tab.page.goto(demo.address(name))
        assert overflow(tab) <= 0, name


def test_the_index_leads_to_every_page_and_back(demo: Site, opened: Opener) -> None:
    tab = opened(demo, "index.html")
    tab.page.click("text=GRiN-Drive, test >> nth=1")
    assert tab.page.url.endswith("grin-drive-test.html")
    for name in ("Gallery", "Samples", "Leaderboard", "Index"):
        tab.page.click(f"nav >> text={name}")
        assert tab.page.evaluate("document.querySelector('h1').innerText") != ""
    assert tab.page.url.endswith("index.html")


def test_the_theme_is_switched_and_kept(demo: Site, opened: Opener) -> None:
    tab = opened(demo, "index.html", color_scheme="light")
    background = "getComputedStyle(document.body).backgroundColor"
    seen = [tab.page.evaluate(background)]
    for _ in range(3):
        tab.page.click("#theme")
        seen.append(tab.page.evaluate(background))
    assert seen == ["rgb(255, 255, 255)", "rgb(255, 255, 255)", "rgb(22, 24, 27)", "rgb(255, 255, 255)"]
    tab.page.click("#theme")
    tab.page.click("#theme")
    tab.page.goto(demo.address("kitti-semantic-test.html"))
    assert tab.page.inner_text("#theme") == "Theme: dark"
    assert tab.page.evaluate(background) == "rgb(22, 24, 27)"


def test_pictures_are_shown(demo: Site, opened: Opener) -> None:
    for name in ("grin-drive-test", "kitti-semantic-test"):
        tab = opened(demo, f"{name}.gallery.html")
        drawn = tab.page.evaluate(
            "[...document.querySelectorAll('svg image, svg use')].map(e => e.getBoundingClientRect().width)"
        )
        assert len(drawn) > 20
        assert min(drawn) > 50
        named = tab.page.evaluate(
            "[...document.querySelectorAll('svg[role=img]')].map(e => e.getAttribute('aria-label'))"
        )
        assert all(named)


def test_thousands_of_rows_are_filtered_and_sorted(large: Site, opened: Opener) -> None:
    tab = opened(large, LARGE)
    assert tab.page.inner_text("#shown") == f"1 to 100 of {SAMPLES:,} samples"
    tab.page.fill("#filter-text", "ZEBRA 299")
    assert tab.page.inner_text("#shown").endswith(f"filtered from {SAMPLES:,}")
    assert all("zebra" in text for text in first_cells(tab, 3))
    assert len(first_cells(tab)) == sum(n % 3 == 0 and "299" in f"{10_000 + n} {n // 3} {n}" for n in range(SAMPLES))
    tab.page.fill("#filter-text", "")
    place = tab.page.evaluate("[...document.querySelectorAll('#rows th')].findIndex(e => e.innerText === 'model3')")
    tab.page.click("#rows thead >> text=model3")
    lowest = [float(text.split()[0]) for text in first_cells(tab, place)]
    assert lowest == sorted(lowest)
    tab.page.click("#rows thead >> text=model3")
    highest = [float(text.split()[0]) for text in first_cells(tab, place)]
    assert highest == sorted(highest, reverse=True)
    assert highest[0] > lowest[0]
    assert tab.page.get_attribute(f"#rows thead th:nth-child({place + 1})", "aria-sort") == "descending"
    tab.page.select_option("#filter-model", label="model3")
    tab.page.select_option("#filter-status", "none")
    assert all(text.endswith("none") for text in first_cells(tab, place))
    tab.page.fill("#filter-most", "0.5")
    assert all(float(text.split()[0]) <= 0.5 for text in first_cells(tab, place))


def test_a_row_tells_its_counts_and_commands_by_keyboard_alone(large: Site, opened: Opener) -> None:
    tab = opened(large, LARGE)
    tab.page.focus("#rows tbody button")
    tab.page.keyboard.press("Enter")
    assert tab.page.get_attribute(":focus", "aria-expanded") == "true"
    more = tab.page.inner_text("#rows tr.more")
    assert "groundeval trace results/grefcoco/val/model3 --metric set_accuracy --sample 10000:10000" in more
    assert "predicted " in more
    tab.page.keyboard.press("Enter")
    assert tab.page.query_selector("#rows tr.more") is None


def test_an_address_leads_to_a_sample(large: Site, opened: Opener) -> None:
    tab = opened(large, f"{LARGE}#sample=12345%3A12345")
    assert tab.page.inner_text(":focus") == "12345:12345"
    assert "Part 24 of 30" in tab.page.inner_text("#turn")
    tab.page.click("#turn >> text=Next")
    assert first_cells(tab)[0].endswith("12400:12400")
    tab.page.goto(large.address("grefcoco-val.gallery.html"))
    tab.page.click("summary >> nth=0")
    name = tab.page.inner_text("article h3 >> nth=0")
    tab.page.click("text=In the table of all samples >> nth=0")
    assert tab.page.inner_text(":focus") == name
    tab.page.goto(large.address(f"{LARGE}#sample=nobody"))
    assert tab.page.inner_text("#shown") == 'No sample "nobody" in this table.'


def test_only_what_is_seen_of_thousands_of_rows_is_made(large: Site, opened: Opener) -> None:
    tab = opened(large, LARGE)
    assert tab.page.evaluate("document.querySelectorAll('#rows tbody tr').length") == 100
    assert tab.page.evaluate("document.querySelectorAll('*').length") < 3000


def test_hostile_text_is_text(hostile: Site, opened: Opener) -> None:
    quote = "'\"'\"'"  # of a shell
    tab = opened(hostile, "index.html")
    for name in hostile.pages:
        tab.page.goto(hostile.address(name))
        scripts = tab.page.evaluate("document.querySelectorAll('script:not([type])').length")
        assert scripts == 1
        assert tab.page.evaluate("document.querySelectorAll('img, iframe, object, form').length") == 0
    tab.page.goto(hostile.address(LARGE))
    tab.page.click("#rows tbody button >> nth=0")
    assert tab.page.inner_text("#rows tbody button >> nth=0") == f"{SEEN} 100"
    assert f"""--sample '{SEEN.replace("'", quote)} 100'""" in tab.page.inner_text("#rows tr.more")
    tab.page.click("text=Link to this sample")
    tab.page.reload()
    assert tab.page.inner_text(":focus") == f"{SEEN} 100"
    tab.page.goto(hostile.address("grefcoco-val.gallery.html"))
    assert SEEN in tab.page.inner_text("article blockquote >> nth=0")
    tab.page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert f"invalid ({SEEN})" in tab.page.inner_text("main")
    tab.page.reload()
    tab.page.click("summary >> nth=0")
    tab.page.click("text=In the table of all samples >> nth=0")
    assert tab.page.inner_text(":focus").startswith(SEEN)


def test_without_scripts_all_but_the_table_works(demo: Site, opened: Opener) -> None:
    tab = opened(demo, "index.html", java_script_enabled=False)
    assert not tab.page.is_visible("#theme")
    assert tab.page.is_visible("text=almost >> nth=0")
    tab.page.goto(demo.address("grefcoco-val.samples.html"))
    assert tab.page.is_visible("noscript p")
    assert not tab.page.is_visible("#filters")
    tab.page.goto(demo.address("kitti-semantic-test.html"))
    tab.page.click("summary >> text=almost")
    assert tab.page.is_visible("text=groundeval verify results/kitti_semantic/test/almost")


def test_on_paper_all_is_open_and_nothing_is_cut(demo: Site, opened: Opener, tmp_path: Path) -> None:
    tab = opened(demo, "kitti-semantic-test.html")
    tab.page.emulate_media(media="print", color_scheme="dark")
    assert tab.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not tab.page.is_visible("nav >> nth=0")
    assert tab.page.is_visible("text=groundeval verify results/kitti_semantic/test/almost")
    tab.page.pdf(path=tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").stat().st_size > 10_000
