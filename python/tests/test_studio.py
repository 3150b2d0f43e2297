"""The studio in a browser: what a person does there, with the mouse and with the keyboard alone.

Runs against the program that `cargo test` built, in Debian's Chromium.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import urllib.parse

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "rosenblatt"
CHROMIUM = next(filter(None, map(shutil.which, ["chromium", "chromium-browser"])), None)
REFUSED = (r"status of 4\d\d",)
AND = "label,x1,x2\n-1,0,0\n-1,0,1\n-1,1,0\n1,1,1\n"


def missing():
    """Why these tests cannot run here, if so."""
    if not PROGRAM.exists():
        return f"{PROGRAM} is missing: cargo build"
    if CHROMIUM is None:
        return "there is no Chromium: apt-get install chromium"
    try:
        import axe_playwright_python  # noqa: F401
        import playwright  # noqa: F401
    except ImportError as error:
        return f"{error}: pip install playwright axe-playwright-python"
    return None


if why := missing():
    if os.environ.get("CI") == "true":
        raise RuntimeError(f"the tests of the studio must run in CI: {why}")
    pytest.skip(f"the tests of the studio are left out: {why}", allow_module_level=True)

from axe_playwright_python.sync_playwright import Axe  # noqa: E402
from playwright.sync_api import expect, sync_playwright  # noqa: E402


def program(*words, cwd=None, check=True):
    run = subprocess.run([PROGRAM, *words], cwd=cwd, capture_output=True, text=True)
    assert not check or run.returncode == 0, run.stderr
    return run


class Studio:
    """A studio under way."""

    def __init__(self, *words, port=0, token=None):
        environment = {**os.environ, **({"ROSENBLATT_STUDIO_TOKEN": token} if token else {})}
        words = [PROGRAM, "studio", "--no-open", "--quiet", "--port", str(port), *words]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
        self.url = self.process.stdout.readline().strip()
        self.port = urllib.parse.urlsplit(self.url).port

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        try:
            assert self.process.wait(5) == 0
        finally:
            self.process.kill()
            self.process.stdout.close()


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def studio():
    studio = Studio()
    yield studio
    studio.stop()


@pytest.fixture
def opened(browser):
    """Opens pages on which no error may show, and which may ask no other host."""
    contexts, wrong = [], []

    def opened(url, allowed=(), **options):
        context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(8000)

        def console(message):
            if message.type in ("error", "warning") and not any(re.search(a, message.text) for a in allowed):
                wrong.append(message.text)

        def request(asked):
            parts = urllib.parse.urlsplit(asked.url)
            if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname != "127.0.0.1":
                wrong.append(f"asked {asked.url}")

        page.on("console", console)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", request)
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def page(opened, studio):
    page = opened(studio.url)
    ready(page)
    return page


def ready(page):
    expect(page.locator("#play")).to_be_enabled()


def rows(page, n):
    expect(page.locator("#data-facts")).to_contain_text(f"{n} rows")


def at_end(page):
    """The run is over, and the page shows its end."""
    end = page.locator(".end").first
    # A run on data that came just now begins again at its first visit, maybe after the click.
    for _ in range(5):
        expect(page.locator(".where")).not_to_contain_text("…")
        page.get_by_label("To the end", exact=True).click()
        with contextlib.suppress(AssertionError):
            expect(end).to_be_visible(timeout=1500)
            return
    expect(end).to_be_visible()


def where(page):
    """The visit shown, and how many there are."""
    numbers = re.findall(r"[\d,]+", page.locator(".where").inner_text())
    return tuple(int(n.replace(",", "")) for n in numbers)


def until(page, so, seconds=8):
    """Waits until something is so."""
    for _ in range(20 * seconds):
        if so():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it did not come about")


def drop(page, name, content, size=None):
    """Drops a file on the page, as a hand does."""
    page.evaluate(
        """([name, content, size]) => {
            const file = new File([content], name);
            if (size) Object.defineProperty(file, "size", { value: size });
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(file);
            if (size) Object.defineProperty(dataTransfer, "files", { value: [file] });
            for (const type of ["dragenter", "dragover", "drop"]) {
                document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
            }
        }""",
        [name, content, size],
    )


def saved(page, button, folder):
    """Presses a button and gives the bytes of what is saved."""
    with page.expect_download() as download:
        page.locator(button).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def place(page, x, y):
    """A place of the picture, as shares of its size."""
    box = page.locator(".picture canvas").first.bounding_box()
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def test_points_set_by_hand(page):
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#play")).to_be_disabled()
    page.mouse.click(*place(page, 0.3, 0.6))
    page.mouse.click(*place(page, 0.35, 0.4))
    page.get_by_text("Two classes are needed").wait_for()
    page.get_by_role("radio", name="B").check()
    page.mouse.click(*place(page, 0.7, 0.5))
    rows(page, 3)
    at_end(page)
    expect(page.locator(".end").first).to_contain_text("separated")
    # Between the others: moved there, the point cannot be separated any more.
    page.mouse.click(*place(page, 0.8, 0.5))
    rows(page, 4)
    page.get_by_role("radio", name="A").check()
    page.mouse.click(*place(page, 0.75, 0.2))
    rows(page, 5)
    page.mouse.move(*place(page, 0.75, 0.2))
    page.mouse.down()
    page.mouse.move(*place(page, 0.75, 0.4))
    page.mouse.move(*place(page, 0.75, 0.5))
    page.mouse.up()
    page.locator("#check").click()
    expect(page.locator("#verdict")).to_contain_text("overlapping")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#verdict")).to_be_hidden()
    page.locator("#check").click()
    expect(page.locator("#verdict")).to_contain_text("separable")
    page.keyboard.down("Shift")
    page.mouse.click(*place(page, 0.75, 0.2))
    page.keyboard.up("Shift")
    rows(page, 4)


def test_a_dropped_file_played_and_scrubbed_back(page, tmp_path):
    drop(page, "dropped.csv", AND)
    expect(page.locator("#data-facts")).to_contain_text("dropped.csv")
    (tmp_path / "dropped.csv").write_text(AND)
    steps = json.loads(program("trace", tmp_path / "dropped.csv", "--json").stdout)["steps"]
    page.get_by_label("Speed").select_option("30")
    page.locator("#play").click()
    expect(page.locator(".end").first).to_be_visible()
    assert where(page) == (len(steps), len(steps))
    for k in [20, 3, 7, 1]:
        page.locator("#scrubber").fill(str(k))
        expect(page.locator(".where")).to_contain_text(f"visit {k} of")
        step = steps[k - 1]
        shown = page.locator(".step").inner_text().replace("−", "-")
        assert f"Row {step['row']}" in shown
        numbers = ", ".join(f"{w:g}" for w in step["weights_after"])
        expect(page.locator(".step")).to_contain_text(f"({numbers})".replace("-", "−"))
    page.get_by_label("To the next update").click()
    after = next(s["step"] for s in steps if s["step"] > 1 and not s["correct"])
    expect(page.locator(".where")).to_contain_text(f"visit {after} of")
    page.get_by_label("Back to the update before").click()
    expect(page.locator(".where")).to_contain_text("visit 1 of")
    page.get_by_label("To the end of the pass").click()
    expect(page.locator(".where")).to_contain_text("visit 4 of")


def test_what_is_taken_away_equals_the_program_s(opened, studio, page, tmp_path):
    drop(page, "points.csv", AND)
    rows(page, 4)
    expect(page.locator("#data-facts")).to_contain_text("points.csv")
    data = tmp_path / "points.csv"
    data.write_text(AND)
    at_end(page)
    model = saved(page, "#take-model", tmp_path)
    command = page.locator(".take .command code").inner_text()
    page.get_by_text("The same model from the command line").click()
    command = page.locator(".take .command code").inner_text().split()
    made = tmp_path / "made"
    made.mkdir()
    (made / "points.csv").write_text(AND)
    program(*command[1:], cwd=made)
    assert (made / "model.rbm").read_bytes() == model.read_bytes()
    picture = saved(page, "#take-animation", tmp_path)
    program("trace", data, "--plot", made / "run.svg")
    assert (made / "run.svg").read_bytes() == picture.read_bytes()
    assert saved(page, "#take-csv", tmp_path).read_text() == AND
    assert saved(page, "#take-onnx", tmp_path).read_bytes()
    assert b"after visit" in saved(page, "#take-svg", tmp_path).read_bytes()
    page.locator("#check").click()
    proof = saved(page, "#certificate", tmp_path)
    program("verify", proof, data)
    # Without a server, without a network.
    replay = saved(page, "#take-replay", tmp_path)
    offline = opened(f"file://{replay}", offline=True)
    ready(offline)
    violations = Axe().run(offline, options=WCAG).response["violations"]
    assert summary(violations) == []
    offline.get_by_label("Speed").select_option("60")
    offline.locator("#play").click()
    expect(offline.locator(".end")).to_contain_text("separated")
    offline.locator("#scrubber").fill("4")
    expect(offline.locator(".where")).to_contain_text("visit 4 of")
    # A link brings everything back.
    page.locator("#option-0-order").select_option("worst")
    expect(page.locator(".commands")).to_contain_text("--order worst")
    page.locator("#take-link").click()
    page.wait_for_url("**#*")
    again = opened(page.url)
    expect(again.locator(".commands")).to_contain_text("trace points.csv --order worst")
    rows(again, 4)


def test_a_lesson_to_its_end(page):
    page.locator("#lessons").click()
    for number in range(1, 14):
        expect(page.locator("#lesson-heading")).to_contain_text(f"{number}. ")
        ready(page)
        assert len(page.locator(".lesson p").all()) >= 3
        if number < 13:
            page.get_by_role("button", name="Next ›").click()
    expect(page.locator("#verdict")).to_contain_text("separable")
    page.get_by_role("button", name="One row too many").click()
    expect(page.locator("#verdict")).to_contain_text("overlapping")
    page.locator(".turn").get_by_role("button", name="Explore").click()
    expect(page.locator("#data-heading")).to_be_visible()


def tab_to(page, selector, most=120):
    """Presses Tab until this element has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return
    raise AssertionError(f"Tab does not lead to {selector}")


def test_all_of_it_by_keyboard_alone(opened, studio, tmp_path):
    page = opened(studio.url)
    ready(page)
    tab_to(page, ".points .buttons button:last-child")
    page.keyboard.press("Enter")
    expect(page.locator("#play")).to_be_disabled()
    tab_to(page, ".picture canvas")
    for keys in [["1", *["ArrowLeft"] * 4, "Enter"], ["ArrowUp", "Enter"], ["2", *["ArrowRight"] * 9, "Enter"]]:
        for key in keys:
            page.keyboard.press(key)
            page.wait_for_timeout(10)
    rows(page, 3)
    # Pick up, carry, put down; set one more, take it back.
    for key in ["m", "ArrowRight", "ArrowDown", "Enter"]:
        page.keyboard.press(key)
    rows(page, 3)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    rows(page, 4)
    page.keyboard.press("u")
    rows(page, 3)
    page.keyboard.press("Delete")
    page.keyboard.press("u")
    rows(page, 3)
    tab_to(page, "#play")
    page.keyboard.press("Enter")
    expect(page.locator(".end").first).to_contain_text("separated")
    tab_to(page, "#scrubber")
    page.keyboard.press("Home")
    expect(page.locator(".where")).to_contain_text("visit 0 of")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".where")).to_contain_text("visit 2 of")
    expect(page.locator("#status")).to_contain_text("Visit 2")
    tab_to(page, "#check")
    page.keyboard.press("Enter")
    expect(page.locator("#verdict")).to_contain_text("separable")
    for name in ["model", "svg", "replay"]:
        tab_to(page, f"#take-{name}")
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        assert download.value.path().stat().st_size > 100
    tab_to(page, "section[aria-labelledby=data-heading] .tabs button:last-child")
    page.keyboard.press("Enter")
    tab_to(page, "#file")
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Space")
    file = tmp_path / "chosen.csv"
    file.write_text(AND)
    chooser.value.set_files(file)
    expect(page.locator("#data-facts")).to_contain_text("chosen.csv")
    tab_to(page, "#lessons")
    page.keyboard.press("Enter")
    for number in range(1, 14):
        expect(page.locator("#lesson-heading")).to_contain_text(f"{number}. ")
        tab_to(page, ".turn button.main")
        page.keyboard.press("Enter")
    expect(page.locator("#data-heading")).to_be_visible()


WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}


def summary(violations):
    return [(v["id"], [n["html"][:150] for n in v["nodes"]]) for v in violations]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_screen_violates_wcag(opened, studio, scheme):
    page = opened(studio.url, allowed=REFUSED, color_scheme=scheme)
    ready(page)
    axe = Axe()

    def clean(screen):
        violations = axe.run(page, options=WCAG).response["violations"]
        assert summary(violations) == [], screen

    clean("points")
    page.get_by_role("button", name="Generate", exact=True).click()
    page.locator("#kind").select_option("classes")
    rows(page, 100)
    at_end(page)
    clean("generator, three classes")
    page.locator("#compare").check()
    expect(page.locator(".picture canvas")).to_have_count(2)
    page.get_by_text("More settings").click()
    page.get_by_label("What order means").click()
    clean("two settings")
    page.locator("#compare").uncheck()
    page.get_by_role("button", name="File", exact=True).click()
    drop(page, "broken.csv", "x1,label\n1,a\nb\n")
    expect(page.get_by_role("alert")).to_contain_text("broken.csv")
    clean("an error")
    drop(page, "penguins.csv", (ROOT / "examples/penguins.csv").read_text())
    rows(page, 344)
    page.get_by_label("Label column").select_option("species")
    page.get_by_label("Against the rest").select_option("Gentoo")
    page.locator("#check").click()
    expect(page.locator("#verdict")).to_be_visible()
    page.get_by_label("Along the weights").check()
    at_end(page)
    clean("a table, projected, with its verdict")
    page.locator("#projector").check()
    clean("projector")
    page.locator("#projector").uncheck()
    page.locator("#lessons").click()
    expect(page.locator("#lesson-heading")).to_be_visible()
    ready(page)
    clean("a lesson")
    page.set_viewport_size({"width": 390, "height": 844})
    clean("a lesson, narrow")
    page.locator("nav.tabs").get_by_role("button", name="Explore").click()
    clean("narrow")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_bad_input_is_told_on_the_page(opened, studio, tmp_path):
    page = opened(studio.url, allowed=REFUSED)
    ready(page)
    alert = page.get_by_role("alert")
    for name, text in [
        ("broken.csv", "x1,x2,label\n1,2,a\n3,b\n"),
        ("one.csv", "x,label\n1,a\n2,a\n"),
        ("none.csv", "label\na\nb\n"),
    ]:
        drop(page, name, text)
        expect(alert).to_contain_text(name)
        (tmp_path / name).write_text(text)
        said = program("trace", tmp_path / name, check=False).stderr
        told = alert.inner_text().split(": ", 1)[1]
        assert told.split(";")[0].split(". ")[0][:40] in said.replace(str(tmp_path) + "/", ""), (told, said)
    drop(page, "broken.csv", "x1,x2,label\n1,2,a\n3,b\n")
    expect(alert).to_contain_text("broken.csv:3")
    drop(page, "large.csv", "x", size=2**31)
    expect(alert).to_contain_text("2,048 MiB")
    # The page goes on with the data that it had.
    page.get_by_label("Speed").select_option("30")
    page.locator("#play").click()
    expect(page.locator(".end").first).to_be_visible()
    # A second page has data of its own.
    second = opened(studio.url)
    ready(second)
    drop(second, "second.csv", AND)
    expect(second.locator("#data-facts")).to_contain_text("second.csv")
    expect(page.locator("#data-facts")).to_contain_text("and.csv")
    # What makes no sense together is refused in the program's words.
    page.get_by_text("More settings").click()
    page.get_by_label("start", exact=True).fill("1,2")
    page.get_by_label("start", exact=True).press("Enter")
    expect(alert.filter(has_text="start")).to_be_visible()


def test_the_server_stops_and_comes_back(opened):
    token = "0123456789abcdef" * 2
    server = Studio(token=token)
    page = opened(server.url, allowed=("Failed to load resource", "ERR_CONNECTION_REFUSED"))
    ready(page)
    page.get_by_role("button", name="Generate", exact=True).click()
    page.locator("#kind").select_option("moons")
    rows(page, 100)
    page.get_by_label("Speed").select_option("60")
    page.locator("#play").click()
    until(page, lambda: where(page)[0] > 20)
    server.stop()
    expect(page.locator(".connection")).to_contain_text("does not answer")
    before = where(page)[0]
    again = Studio(port=server.port, token=token)
    try:
        expect(page.locator(".connection")).to_be_hidden()
        until(page, lambda: where(page)[0] > before + 30)
        page.locator("#play").click()
        expect(page.locator("#data-facts")).to_contain_text("moons.csv")
    finally:
        again.stop()


def test_rows_by_the_hundred_thousand(page, tmp_path):
    file = tmp_path / "many.csv"
    program("generate", "blobs", "-n", "100000", "--seed", "3", "-o", file)
    page.get_by_role("button", name="File", exact=True).click()
    page.locator("#file").set_input_files(file)
    expect(page.locator("#sampled")).to_contain_text("of 100,000 rows; all are learned from")


def test_the_assets_are_what_their_sources_make(tmp_path):
    """The committed script and style come from the sources and the lockfile beside them."""
    if not (shutil.which("node") and shutil.which("npm")):
        assert os.environ.get("CI") != "true", "CI needs Node"
        pytest.skip("there is no Node: the assets of the studio are not built again")
    crate = ROOT / "crates/rosenblatt-studio"
    web = tmp_path / "web"
    shutil.copytree(crate / "web", web, ignore=shutil.ignore_patterns("node_modules"))
    kept = crate / "web/node_modules"
    lock = json.loads((web / "package-lock.json").read_text())["packages"]
    current = kept / ".package-lock.json"
    same = current.exists() and json.loads(current.read_text())["packages"].get("node_modules/esbuild", {}).get(
        "integrity"
    ) == lock["node_modules/esbuild"]["integrity"]
    if same:
        (web / "node_modules").symlink_to(kept)
    else:
        installed = subprocess.run(
            ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=web, capture_output=True, text=True
        )
        if installed.returncode and os.environ.get("CI") != "true":
            pytest.skip(f"npm gives no packages: {installed.stderr.strip().splitlines()[-1:]}")
        assert installed.returncode == 0, installed.stderr
    subprocess.run(["node", "build.mjs", tmp_path], cwd=web, check=True)
    subprocess.run(["node", "node_modules/typescript/bin/tsc", "--noEmit"], cwd=web, check=True)
    for name in ["app.js", "app.css"]:
        assert (tmp_path / name).read_bytes() == (crate / "assets" / name).read_bytes(), f"npm run build: {name}"
