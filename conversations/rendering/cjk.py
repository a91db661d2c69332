"""Emphasis beside Chinese, Japanese and Korean letters.

CommonMark decides by spaces and punctuation whether asterisks open or close. Scripts that put no space between a
closing quote and the next word fall through: without this, `**「大事」**です` keeps its asterisks.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token
from markdown_it.utils import EnvType

_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)


class InlineParser(ParserInline):
    """The inline parser with a state that knows these scripts."""

    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        state = _State(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class _State(StateInline):
    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:
        scanned = super().scanDelims(start, canSplitWord)
        if not canSplitWord:
            return scanned
        before, after = self.src[start - 1 : start], self.src[start + scanned.length : start + scanned.length + 1]
        return Scanned(
            can_open=scanned.can_open or (not after.isspace() and after != "" and _is_cjk(before)),
            can_close=scanned.can_close or (not before.isspace() and before != "" and _is_cjk(after)),
            length=scanned.length,
        )


def _is_cjk(character: str) -> bool:
    return _CJK.match(character) is not None
