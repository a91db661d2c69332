"""Code blocks: a figure with the language, a button that a script may wire, and coloured tokens."""

import re
import time
from collections.abc import Iterator
from html import escape
from itertools import groupby
from operator import itemgetter

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Token, _TokenType

from conversations.rendering.allowance import Allowance

# Kinds of token that have a colour, with the class Pygments itself would give them. The nearest ancestor counts.
_COLOURED: dict[_TokenType, str] = {
    Token.Keyword: "k",
    Token.Keyword.Constant: "kc",
    Token.Keyword.Type: "kt",
    Token.Name.Function: "nf",
    Token.Name.Class: "nc",
    Token.Name.Namespace: "nn",
    Token.Name.Builtin: "nb",
    Token.Name.Decorator: "nd",
    Token.Name.Exception: "ne",
    Token.Name.Tag: "nt",
    Token.Name.Attribute: "na",
    Token.Name.Variable: "nv",
    Token.Literal.String: "s",
    Token.Literal.String.Escape: "se",
    Token.Literal.String.Doc: "sd",
    Token.Literal.Number: "m",
    Token.Comment: "c",
    Token.Comment.Preproc: "cp",
    Token.Operator.Word: "ow",
    Token.Generic.Deleted: "gd",
    Token.Generic.Inserted: "gi",
    Token.Generic.Heading: "gh",
    Token.Generic.Subheading: "gu",
    Token.Generic.Prompt: "gp",
    Token.Generic.Error: "gr",
}
TOKEN_CLASSES = frozenset(_COLOURED.values())

# Lexers measured against hostile input, with the other names of their languages. Most lexers that are not here have
# patterns whose time grows with the square of the text.
_LEXERS = {
    "asm": "", "bash": "console sh shell shellsession zsh", "c": "h", "clojure": "clj", "cmake": "", "cobol": "",
    "cpp": "c++ cc cxx hpp", "csharp": "c# cs", "css": "", "dart": "", "diff": "patch", "django": "jinja jinja2",
    "docker": "dockerfile", "elixir": "ex exs", "erlang": "erl", "fortran": "f90", "fsharp": "f# fs", "go": "golang",
    "graphql": "gql", "groovy": "gradle", "haskell": "hs", "hcl": "", "html": "htm", "http": "", "java": "",
    "javascript": "cjs js mjs", "json": "json5 jsonc", "jsx": "", "julia": "jl", "kotlin": "kt", "latex": "tex",
    "lisp": "", "lua": "", "make": "makefile", "matlab": "", "nginx": "", "nix": "", "objective-c": "objc",
    "pascal": "delphi", "perl": "pl", "php": "", "powershell": "ps1", "protobuf": "proto", "python": "py python3",
    "r": "", "ruby": "rb", "rust": "rs", "scala": "", "scheme": "", "scss": "", "sql": "mysql postgresql sqlite",
    "swift": "", "terraform": "tf", "toml": "", "tsx": "", "typescript": "ts", "vim": "", "vue": "", "xml": "svg",
    "yaml": "yml", "zig": "",
}  # fmt: skip
_LEXER_OF = {name: lexer for lexer, others in _LEXERS.items() for name in (lexer, *others.split())}

_LONGEST_LABEL = 30
_WHITESPACE_RUN = re.compile(r"\s{400}")


def code_figure(code: str, info: str, allowance: Allowance) -> str:
    """A block of code as HTML. `info` is what stands after the opening fence; its first word names the language."""
    label = info.split(maxsplit=1)[0][:_LONGEST_LABEL] if info.strip() else ""
    return (
        f'<figure class="code"><figcaption><span class="code-language">{escape(label)}</span>'
        '<button type="button" class="code-copy">Copy</button></figcaption>'
        f'<pre dir="ltr" tabindex="0"><code>{_coloured(code, label, allowance)}</code></pre></figure>\n'
    )


def _coloured(code: str, label: str, allowance: Allowance) -> str:
    """The code with its tokens in spans; only escaped if its language is unknown or the allowance is spent."""
    name = _LEXER_OF.get(label.lower())
    if name is None or len(code) > allowance.code_characters or _WHITESPACE_RUN.search(code):
        return escape(code, quote=False)
    allowance.code_characters -= len(code)
    # A lexer keeps state, so each block has its own. The first of a language compiles its patterns when it is asked for
    # its first token, which is our time and not the message's.
    lexer = get_lexer_by_name(name)
    next(lexer.get_tokens_unprocessed(" "), None)
    started = time.thread_time()
    try:
        return _spans(lexer, code, deadline=started + allowance.code_seconds)
    except TimeoutError:
        return escape(code, quote=False)
    finally:
        allowance.code_seconds -= time.thread_time() - started


def _spans(lexer: Lexer, code: str, *, deadline: float) -> str:
    parts: list[str] = []
    for name, neighbours in groupby(_classed(lexer, code, deadline), key=itemgetter(0)):
        text = escape("".join(text for _, text in neighbours), quote=False)
        parts.append(f'<span class="{name}">{text}</span>' if name else text)
    return "".join(parts)


def _classed(lexer: Lexer, code: str, deadline: float) -> Iterator[tuple[str, str]]:
    for _, kind, text in lexer.get_tokens_unprocessed(code):
        if time.thread_time() > deadline:
            raise TimeoutError
        yield _class_of(kind), text


_classes: dict[_TokenType, str] = {}


def _class_of(kind: _TokenType) -> str:
    """The class of a kind of token, looked up through its ancestors; empty for the colour of the text."""
    name = _classes.get(kind)
    if name is None:
        ancestors = reversed(kind.split())
        name = _classes[kind] = next((_COLOURED[one] for one in ancestors if one in _COLOURED), "")
    return name
