"""browser.py check|sheet|show PAGE - a page of the program in a real browser: chromium by WebDriver,
nothing but Python's own library. Prints a line for each thing that holds; the first that does not
ends it with 1.

PAGE must be what tests/cli/page.bats makes."""

import http.client
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # WebDriver's word for a reference to an element
LEFT, RIGHT, ENTER = "\ue012", "\ue014", "\ue007"


class Browser:
    def __init__(self, folder):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = None
        for _ in range(400):
            try:
                self.call("GET", "/status")
                break
            except OSError:
                time.sleep(0.05)
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                            f"--user-data-dir={folder}", "--window-size=1100,900"]}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = made["sessionId"]

    def call(self, method, path, body=None):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if self.session:
            path = f"/session/{self.session}{path}"
        c.request(method, path, json.dumps(body or {}) if method == "POST" else None)
        value = json.loads(c.getresponse().read())["value"]
        c.close()
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(f"{path}: {value['error']}: {value['message']}")
        return value

    def until(self, script):
        """Waits for what comes with an event."""
        for _ in range(100):
            if self.run(script):
                return True
            time.sleep(0.05)
        return False

    def run(self, script, *args):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def find(self, css):
        return self.call("POST", "/element", {"using": "css selector", "value": css})[ELEMENT]

    def click(self, css):
        self.call("POST", f"/element/{self.find(css)}/click")

    def keys(self, css, text):
        self.call("POST", f"/element/{self.find(css)}/value", {"text": text})

    def type(self, text):
        """To whatever has the focus."""
        each = [{"type": t, "value": k} for k in text for t in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": each}]})

    def drag(self, css, x0, x1):
        """From x0 to x1 pixels right of the middle of an element."""
        origin = {ELEMENT: self.find(css)}
        move = lambda x: {"type": "pointerMove", "duration": 20, "origin": origin, "x": x, "y": 0}
        self.call("POST", "/actions", {"actions": [{
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
            "actions": [move(x0), {"type": "pointerDown", "button": 0}, move(x1),
                        {"type": "pointerUp", "button": 0}]}]})

    def devtools(self, cmd, **params):
        self.call("POST", "/goog/cdp/execute", {"cmd": cmd, "params": params})

    def close(self):
        try:
            if self.session:
                self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()


def holds(what, truth, seen=None):
    if not truth:
        print(f"not so: {what}; seen: {seen}")
        sys.exit(1)
    print(f"so: {what}")


CASE = '[data-name="broken"] '
SHOWN = "return [...document.querySelectorAll('.case')].filter(e => e.offsetHeight > 0).map(e => e.dataset.name)"


def check_pictures(b):
    opened = b.run("return [...document.querySelectorAll('.case')].filter(e => e.open).map(e => e.dataset.name)")
    holds("of so few cases all are open that were made", sorted(opened) == ['<b>odd</b> & "name"', "broken", "good"], opened)
    views = b.run("return [...document.querySelector(arguments[0] + '.left').options].map(o => o.value)", CASE)
    holds("four pictures can be chosen", views == ["reference", "result", "difference", "colours"], views)
    for v in views:
        size = b.run("""const s = document.querySelector(arguments[0] + '.left');
            s.value = arguments[1]; s.dispatchEvent(new Event('change'));
            const i = document.querySelector(arguments[0] + '.over');
            return i.decode().then(() => [i.naturalWidth, i.naturalHeight])""", CASE, v)
        holds(f"the picture '{v}' decodes, one pixel for each of the image", size == [40, 30], size)
    scale = b.run("return document.querySelector(arguments[0] + '.scale').innerText", CASE)
    holds("false colours come with their scale", "2" in scale and len(scale.split()) == 2, scale)


def wipe(b, within):
    """Where the slider says the pictures meet, and where they are seen to."""
    return b.run("""const at = q => document.querySelector(arguments[0] + q), box = at('.stage').getBoundingClientRect();
        const edge = at('.edge').getBoundingClientRect();
        const cut = getComputedStyle(at('.over')).clipPath;
        return [Number(at('.wipe').value), Math.round(100 * (edge.left + edge.width / 2 - box.left) / box.width), cut]""", within)


def check_slider(b, within=CASE):
    before = wipe(b, within)
    holds("the slider starts in the middle", before[:2] == [50, 50], before)
    b.keys(within + ".wipe", RIGHT * 7)
    moved = wipe(b, within)
    holds("arrow keys move it, and the pictures with it", moved[:2] == [57, 57] and moved[2] != before[2], moved)
    b.keys(within + ".wipe", LEFT * 10)
    holds("both ways", wipe(b, within)[:2] == [47, 47], wipe(b, within))
    width = b.run("return document.querySelector(arguments[0] + '.stage').clientWidth", within)
    b.drag(within + ".stage", 0, round(width * 0.3))
    dragged = wipe(b, within)
    holds("dragging on the picture moves it", abs(dragged[0] - 80) <= 1 and abs(dragged[1] - 80) <= 1, dragged)
    b.drag(within + ".stage", 0, -round(width / 2) - 15)
    holds("and stops at its edge", wipe(b, within)[:2] == [0, 0], wipe(b, within))


def check_facts(b):
    words = b.run("return document.querySelector(arguments[0]).innerText", CASE)
    for fact in ("Worst pixel: x 7, y 9", "Histogram of the differences", "Timings", "pass forward", "Plan",
                 "lengths", "pixels differ from", "Light kept", "Recomputed in double", "reference's device"):
        holds(f"the case says '{fact}'", fact in words, words)
    ring = b.run("""const q = s => document.querySelector(arguments[0] + s).getBoundingClientRect();
        const r = q('.ring'), s = q('.stage');
        return [(r.left + r.width / 2 - s.left) / s.width * 40, (r.top + r.height / 2 - s.top) / s.height * 30]""", CASE)
    holds("the ring is around the worst pixel", abs(ring[0] - 7.5) < 0.2 and abs(ring[1] - 9.5) < 0.2, ring)
    bars = b.run("return [...document.querySelectorAll(arguments[0] + 'svg rect')].filter(r => r.height.baseVal.value > 0).length", CASE)
    holds("the histogram has bars", bars > 2, bars)


def check_filters(b):
    every = b.run(SHOWN)
    holds("all cases are shown", every == ["good", "<b>odd</b> & \"name\"", "broken", "absent"], every)
    holds("a name is text, not markup", b.run("return document.querySelectorAll('main b').length") == 0)
    b.click("#states input[value=pass]")
    holds("a status can be hidden", b.run(SHOWN) == ["broken", "absent"], b.run(SHOWN))
    b.click("#states input[value=pass]")
    b.click("h1")
    b.type("/oD")
    holds("/ goes to the search, which goes by any part of the name", b.run(SHOWN)[:2] == every[:2] and
          len(b.run(SHOWN)) == 2, b.run(SHOWN))
    holds("and says how many there are", b.run("return document.querySelector('#shown').textContent") == "2 of 4 shown")
    b.run("const n = document.querySelector('#name'); n.value = ''; n.dispatchEvent(new Event('input', {bubbles: true})); n.blur()")


def check_keys(b):
    b.type("jj")
    at = b.run("return document.activeElement.parentElement.dataset.name")
    holds("j goes to the next case", at == "<b>odd</b> & \"name\"", at)
    state = "const e = document.activeElement.parentElement; return [e.dataset.name, e.open]"
    b.type("k" + ENTER)
    closed = b.run(state)
    b.type(ENTER)
    seen = [closed, b.run(state)]
    holds("k goes back, Enter closes and opens", seen == [["good", False], ["good", True]], seen)
    holds("and the case is filled", b.until("return document.querySelectorAll('[data-name=good] table').length > 2"))


def fits(b):
    return b.run("return [document.documentElement.scrollWidth, innerWidth]")


def luminance(b, what):
    """0 to 255, of a computed colour."""
    rgb = b.run("return getComputedStyle(document.body)[arguments[0]].match(/[0-9.]+/g).slice(0, 3).map(Number)", what)
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]


def check_phone_and_dark(b):
    holds("it fits a wide window", fits(b)[0] <= fits(b)[1], fits(b))
    b.devtools("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=2, mobile=True)
    b.run("for (const e of document.querySelectorAll('.case')) e.open = true")
    b.until("return [...document.querySelectorAll('.facts')].every(f => f.children.length)")
    holds("at 360 pixels nothing is wider than the window", fits(b) == [360, 360], fits(b))
    holds("nor too small to read", b.run("return parseFloat(getComputedStyle(document.querySelector('pre, code')).fontSize)") >= 12)
    light = luminance(b, "backgroundColor"), luminance(b, "color")
    holds("by day it is dark on light", light[0] > 230 and light[1] < 60, light)
    b.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    dark = luminance(b, "backgroundColor"), luminance(b, "color")
    holds("in the dark it is light on dark", dark[0] < 60 and dark[1] > 200, dark)
    holds("where it fits, too", fits(b) == [360, 360], fits(b))


CUT = """return [...document.querySelectorAll('main *, footer *, svg text, svg image')].filter(e => {
    const r = e.getBoundingClientRect();
    return r.width && getComputedStyle(e).display !== 'none' && (r.left < -1 || r.right > innerWidth + 1);
    }).map(e => e.tagName + ' ' + (e.id || e.className.baseVal || e.textContent.slice(0, 30)))"""


def check_widths(b):
    for scheme in "light", "dark":
        b.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for width in 320, 800, 1600:
            b.devtools("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
            holds(f"at {width} pixels in the {scheme} nothing is cut", fits(b)[0] <= width and b.run(CUT) == [],
                  [fits(b), b.run(CUT)])


LETTERS = """return [...document.querySelectorAll('svg text, svg tspan')].filter(e => getComputedStyle(e).display !== 'none')
    .map(e => [parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a, e.textContent.slice(0, 30)])
    .filter(e => e[0] < 11.99)"""

COLUMN = """const r = [...document.querySelectorAll('svg > g')].map(g => [...g.querySelectorAll('text, image')].map(
    e => e.getBoundingClientRect())).map(a => [Math.min(...a.map(e => e.top)), Math.max(...a.map(e => e.bottom))]);
    const end = document.documentElement.getBoundingClientRect().bottom;
    return [r.length, r.every((a, i) => a[0] >= (i ? r[i - 1][1] : 0) && a[1] <= end)]"""


def check_phone_page(b):
    b.devtools("Emulation.setDeviceMetricsOverride", width=400, height=900, deviceScaleFactor=1, mobile=False)
    holds("at 400 pixels letters have 12 pixels or more", b.run(LETTERS) == [], b.run(LETTERS))
    holds("and all stands in one column", b.run(COLUMN) == [5, True], b.run(COLUMN))
    holds("of which nothing is cut", fits(b)[0] <= 400 and b.run(CUT) == [], [fits(b), b.run(CUT)])


# --- the sheet of kernels -----------------------------------------------------------------------

def shown(b):
    """The name, the command, and which small picture is marked."""
    return b.run("""const q = s => document.querySelector(s);
        return [q('#name').textContent, q('#command').textContent, q('.look[aria-pressed=true]').dataset.name,
                q('#bloomed').src === q('.look[aria-pressed=true] img').src]""")


def check_looks(b):
    names = b.run("return [...document.querySelectorAll('.look')].map(e => e.dataset.name)")
    holds("no bloom comes first, then the kernels", names == ["no bloom", "k", "<b>odd"], names)
    holds("a name is text, not markup", b.run("return document.querySelectorAll('main b').length") == 0)
    holds("the first kernel is shown, at half strength", shown(b) == [
        "k", "fftbloom in.exr k.exr -o in-k.exr --amount 50%", "k", True], shown(b))
    sizes = b.run("""return Promise.all([...document.querySelectorAll('img')].map(i => i.decode().then(() =>
        [i.naturalWidth, i.naturalHeight])))""")
    holds("all pictures decode, in the frame's size", sizes == [[40, 30]] * 5, sizes)
    b.click(".look:nth-child(3)")
    seen = shown(b)
    holds("a click chooses another", seen[0] == seen[2] == "<b>odd" and seen[3], seen)
    holds("whose command is quoted for a shell", "'<b>odd.exr' -o 'in-<b>odd.exr'" in seen[1], seen)


def check_sheet_keys(b):
    b.click("#name")
    b.type(LEFT)
    holds("the left arrow goes back", shown(b)[0] == "k", shown(b))
    b.type(LEFT + LEFT)
    holds("to the frame without bloom, and no further", shown(b)[0] == "no bloom", shown(b))
    holds("which has no command", b.run("return document.querySelector('.command').offsetHeight") == 0)
    b.type(RIGHT)
    b.type("3")
    full = b.run("return document.querySelector('#bloomed').src")
    b.type("1")
    seen = shown(b)
    holds("1 is the weakest strength", seen[1].endswith(" --amount 25%"), seen)
    holds("of which there are other pictures, large and small", seen[3] and
          b.run("return document.querySelector('#bloomed').src") != full)
    b.type("3")
    holds("3 is the strongest", b.run("return document.querySelector('#bloomed').src") == full and
          "--amount" not in shown(b)[1], shown(b))
    b.run("document.querySelector('#strengths label:nth-of-type(2)').click()")
    holds("a click does the same", shown(b)[1].endswith(" --amount 50%"), shown(b))
    b.type("c")
    holds("c copies the command", b.until("return document.querySelector('#copy').textContent === 'Copied'"))


CHECKS = {
    "check": (check_filters, check_pictures, check_slider, check_facts, check_keys, check_phone_and_dark),
    "sheet": (check_looks, lambda b: check_slider(b, ""), check_sheet_keys, check_phone_and_dark, check_widths),
    "show": (check_widths, check_phone_page),
}


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        b = Browser(folder)
        try:
            b.call("POST", "/url", {"url": pathlib.Path(sys.argv[2]).resolve().as_uri()})
            for check in CHECKS[sys.argv[1]]:
                check(b)
            asked = b.run("return performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith('data:'))")
            holds("nothing was asked of a network", asked == [], asked)
            log = b.call("POST", "/se/log", {"type": "browser"})
            holds("the console has no word", log == [], log)
        finally:
            b.close()


main()
