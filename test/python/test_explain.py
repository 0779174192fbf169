"""Pages about pipelines: what is on them, and that a browser shows them without complaint."""

import base64
import html.parser
import os
import re
import shutil
import subprocess

import pytest

import polyhalite as ph

i, j = ph.vars("i j")
BROWSER = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p),
               None)


def blur():
    image = ph.ImageParam(ph.Int(32), 2, "image")
    rows, out = ph.funcs("rows blurred")
    rows[i, j] = image[i, j] + image[i, j + 1]
    out[i, j] = rows[i, j] + rows[i + 1, j]
    out.vectorize(j, 8).parallel(i)
    rows.compute_at(out, i)
    out.set_estimates([(0, 480), (0, 640)])
    return out


def sweep():
    f = ph.Func("swept <&>")
    r = ph.RDom([(1, 6), (1, 8)], "r")
    f[i, j] = i + j
    f[r[0], r[1]] = f[r[0], r[1] - 1] + f[r[0] - 1, r[1] + 1]
    return f, r


class Page(html.parser.HTMLParser):
    """Checks that tags are closed, and collects anchors, links and texts."""

    VOID = {"meta", "link", "br"}

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.sources, self.text = [], set(), [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            assert attributes["id"] not in self.ids
            self.ids.add(attributes["id"])
        if "href" in attributes:
            self.links.append(attributes["href"])
        if "src" in attributes:
            self.sources.append(attributes["src"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def check(text):
    page = Page(text)
    for link in page.links:
        assert link == "data:," or link[1:] in page.ids, link
    assert not page.sources
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    return "".join(page.text), page


def test_a_page_has_all_that_is_known():
    text, page = check(blur().explain())
    assert {"stages", "directives", "loops", "dependences", "proofs", "code"} <= page.ids
    assert "The schedule keeps the algorithm's meaning" in text
    assert "rows.compute_at(blurred, i)" in text and "test_explain.py:" in text
    assert "= 480 iterations" in text and "640" in text
    assert "first-level cache" in text
    loops = [a for a in page.ids if a.startswith("tree-")]
    assert "tree-blurred.s0.i" in loops and len(loops) == 5
    for loop in ("blurred.s0.i", "blurred.s0.j", "rows.s0.j"):
        assert f"ir-{loop}" in page.ids, loop
    assert "#asm-blurred.s0.j" in page.links


def test_a_refused_schedule_is_explained():
    f, r = sweep()
    f.update().parallel(r[0])
    text, page = check(f.explain())
    assert "The schedule is refused" in text and "code" not in page.ids
    assert "at (r_x=2, r_y=1) reads" in text
    assert "overwrites what the other read" in text


def test_promises_stand_first():
    f, r = sweep()
    f.update().allow_race_conditions().parallel(r[0])
    text, _ = check(f.explain())
    assert "promised by the schedule and not proven" in text


def test_a_second_proof_is_told_of(monkeypatch):
    monkeypatch.delenv("PH_VERIFY", raising=False)
    before = ph.verification()
    try:
        ph.set_verification("none")
        assert "proven again" not in check(blur().explain())[0]
        ph.set_verification("full")
        assert ph.verification() == "full"
        assert "proven again: 'rows'" in check(blur().explain())[0]
        with pytest.raises(ph.CompileError, match="cannot verify 'twice'"):
            ph.set_verification("twice")
    finally:
        ph.set_verification(before)


def test_long_chains_are_explained():
    # Without the directives, inlining would make 2^40 reads of the first Func.
    f = ph.Func("f0")
    f[i, j] = i + j
    for k in range(1, 41):
        g = ph.Func(f"f{k}")
        g[i, j] = f[i - 1, j] + f[i + 1, j]
        f.compute_root()
        f = g
    text, page = check(f.explain())
    assert "takes effect together with a later one" in text and "tree-f40.s0.i" in page.ids


def test_a_run_tells_the_time_of_each_stage():
    # One stage does a thousand times the work of the other.
    image = ph.ImageParam(ph.Float(32), 2, "image")
    heavy, light = ph.funcs("heavy light")
    r = ph.RDom([(0, 1000)], "r")
    heavy[i, j] = 0.0
    heavy[i, j] += ph.sqrt(image[i, j] + r)
    light[i, j] = heavy[i, j] + image[i, j + 1]
    heavy.compute_root()
    light.set_estimates([(0, 64), (0, 64)])
    text, page = check(light.explain(run=True))
    assert "times" in page.ids and "#times" in page.links
    rows = text.split("Time per stage")[1].split("Code")[0]
    share = {name: float(number) for name, number in
             re.findall(r"(heavy|light)[0-9.]+?\.[0-9]{3}([0-9.]+)%", rows)}
    assert share["heavy"] > 80 and share["light"] < 10
    assert rows.index("heavy") < rows.index("light")
    assert "times" not in check(light.explain())[1].ids


def test_without_sizes_a_page_says_why_there_are_no_times():
    f = ph.Func("unsized")
    f[i, j] = i + j
    text, page = check(f.explain(run=True))
    assert "times" in page.ids and "Not run." in text
    assert "set_estimate" in text.split("Not run.")[1].split("Code")[0]


def test_a_page_is_written(tmp_path):
    path = tmp_path / "page.html"
    assert blur().explain(str(path)) is None
    check(path.read_text(encoding="utf-8"))


COMMAND = os.environ.get("POLYHALITE_CLI")


def explain_command(folder, *arguments):
    return subprocess.run([COMMAND, "explain", *map(str, arguments)], cwd=folder, text=True,
                          capture_output=True, timeout=300)


@pytest.mark.skipif(COMMAND is None, reason="the command line is not built")
def test_the_command_explains_a_pipeline(tmp_path):
    ph.serialize_pipeline(blur(), str(tmp_path / "blur.hlpipe"))
    run = explain_command(tmp_path, "blur.hlpipe")
    assert (run.returncode, run.stdout) == (0, "blur.explain.html\n"), run.stderr
    text, page = check((tmp_path / "blur.explain.html").read_text(encoding="utf-8"))
    assert "rows.compute_at(blurred, i)" in text and "ir-blurred.s0.i" in page.ids
    (tmp_path / "broken.hlpipe").write_text("pipeline 2\n", encoding="utf-8")
    run = explain_command(tmp_path, "broken.hlpipe")
    assert run.returncode == 1 and "broken.hlpipe:1: error" in run.stderr
    run = explain_command(tmp_path, "blur.hlpipe", "--run", "-o", "timed.html")
    assert run.returncode == 0, run.stderr
    text, page = check((tmp_path / "timed.html").read_text(encoding="utf-8"))
    assert "times" in page.ids and "rows" in text.split("Time per stage")[1].split("Code")[0]
    run = explain_command(tmp_path, "blur.hlpipe", "--verify", "full", "-o", "proven.html")
    assert run.returncode == 0, run.stderr
    text, page = check((tmp_path / "proven.html").read_text(encoding="utf-8"))
    assert "proven again: 'rows'" in text and "proven again: 'blurred'" in text
    run = explain_command(tmp_path, "blur.hlpipe", "--verify", "twice")
    assert run.returncode != 0 and "--verify" in run.stderr
    run = explain_command(tmp_path, "missing.hlpipe")
    assert run.returncode == 1 and "cannot read 'missing.hlpipe'" in run.stderr


@pytest.mark.skipif(COMMAND is None, reason="the command line is not built")
def test_the_command_explains_each_kernel_of_a_model(tmp_path):
    # A model of one node: y = Softmax(x) along the last axis, x being float32[N, 3].
    (tmp_path / "softmax.onnx").write_bytes(base64.b64decode(
        "CAhCAhAROkAKDwoBeBIBeSIHU29mdG1heBIBZ1oUCgF4Eg8KDQgBEgkKAxIB"
        "TgoCCANiFAoBeRIPCg0IARIJCgMSAU4KAggD"))
    run = explain_command(tmp_path, "softmax.onnx", "-o", "pages")
    assert run.returncode == 0, run.stderr
    index = (tmp_path / "pages" / "index.html").read_text(encoding="utf-8")
    links = Page(index).links
    pages = [link for link in links if link.endswith(".html")]
    assert pages and "Softmax" in index
    for link in pages:
        check((tmp_path / "pages" / link).read_text(encoding="utf-8"))


def console(path):
    """What the page says to the browser's console."""
    run = subprocess.run(
        [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         "--virtual-time-budget=3000", f"--user-data-dir={path.parent / 'profile'}", "--dump-dom",
         path.as_uri() + "#asm-blurred.s0.j"],
        capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return [line for line in run.stderr.split("\n") if "CONSOLE" in line], run.stdout


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_a_browser_shows_the_page_without_complaint(tmp_path):
    broken = tmp_path / "broken.html"
    broken.write_text("<html><body><script>missing()</script></body></html>", encoding="utf-8")
    assert console(broken)[0]
    f, _ = sweep()
    for k, pipeline in enumerate([blur(), f]):
        page = tmp_path / f"page{k}.html"
        pipeline.explain(str(page))
        complaints, shown = console(page)
        assert not complaints
        assert "Dependences" in shown
    # The script unfolds what a link leads to.
    assert '<details open' in console(tmp_path / "page0.html")[1].split('id="code"')[1]
