"""A headless Chromium, driven over the WebDriver protocol with nothing but the standard library."""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
]

KEYS = {
    "Tab": "\ue004",
    "Enter": "\ue007",
    "Shift": "\ue008",
    "Escape": "\ue00c",
    "PageDown": "\ue00f",
    "End": "\ue010",
    "Home": "\ue011",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Browser:
    """A browser with one window; a context manager that ends what it started."""

    def __init__(self):
        self.port = free_port()
        self.profile = tempfile.mkdtemp(prefix="bubbleproof-browser-")
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={self.port}", "--log-level=WARNING"], stdout=subprocess.DEVNULL
        )
        self.session = None
        self._wait_for_driver()
        options = {
            "args": [*OPTIONS, f"--user-data-dir={self.profile}"],
            "perfLoggingPrefs": {"enableNetwork": True},
        }
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        made = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = made["sessionId"]
        self.version = made["capabilities"]["browserVersion"]

    def _wait_for_driver(self):
        for _ in range(200):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/status", timeout=5):
                    return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        raise RuntimeError("chromedriver does not answer")

    def _call(self, method, path, body=None):
        base = f"http://127.0.0.1:{self.port}" + (f"/session/{self.session}" if self.session else "")
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(timeout=30)
            shutil.rmtree(self.profile, ignore_errors=True)

    def resize(self, width, height):
        """The size of what is inside the window."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        self.settle()

    def open(self, url):
        self._call("POST", "/url", {"url": url})

    def run(self, script, *args):
        """The value that the body of a function in the page returns."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def run_async(self, script):
        """What the body of an asynchronous function in the page returns."""
        script = f"const done = arguments[0]; (async () => {{ {script} }})().then(done);"
        return self._call("POST", "/execute/async", {"script": script, "args": []})

    def settle(self):
        """Waits until the page has been told of what happened to it, and has drawn."""
        self.run_async("for (let at = 0; at < 2; at += 1) await new Promise(requestAnimationFrame);")

    def devtools(self, command, params):
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def prefer(self, theme=None, media=""):
        """Has the window's owner prefer light or dark, and the page be printed where the media is `print`."""
        features = [{"name": "prefers-color-scheme", "value": theme}] if theme else []
        self.devtools("Emulation.setEmulatedMedia", {"media": media, "features": features})
        self.settle()

    def log(self, kind):
        return self._call("POST", "/se/log", {"type": kind})

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self._call("GET", "/screenshot")))

    def _actions(self, *sources):
        self._call("POST", "/actions", {"actions": list(sources)})
        self.settle()

    def point(self, x, y):
        self._actions(_pointer([{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0}]))

    def drag(self, x, y, by_x, by_y):
        move = {"type": "pointerMove", "duration": 0}
        steps = [
            {**move, "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {**move, "x": round(x + by_x / 2), "y": round(y + by_y / 2)},
            {**move, "x": round(x + by_x), "y": round(y + by_y)},
            {"type": "pointerUp", "button": 0},
        ]
        self._actions(_pointer(steps))

    def click(self, x, y):
        self.drag(x, y, 0, 0)

    def wheel(self, x, y, by_x, by_y):
        scroll = {"type": "scroll", "x": round(x), "y": round(y), "deltaX": by_x, "deltaY": by_y, "duration": 0}
        self._actions({"type": "wheel", "id": "wheel", "actions": [scroll]})

    def press(self, *names):
        """Presses these keys one after the other; one such as Shift+ArrowLeft with what is held."""
        steps = []
        for name in names:
            parts = name.split("+") if len(name) > 1 else [name]
            keys = [KEYS.get(part, part) for part in parts]
            steps += [{"type": "keyDown", "value": key} for key in keys]
            steps += [{"type": "keyUp", "value": key} for key in reversed(keys)]
        self._actions({"type": "key", "id": "keyboard", "actions": steps})


def _pointer(steps):
    return {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}
