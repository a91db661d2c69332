"""In which language a text is written, as far as PostgreSQL has a stemmer for it."""

import re
from threading import Lock

from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier

STEMMERS = {
    "ar": "arabic",
    "hy": "armenian",
    "eu": "basque",
    "ca": "catalan",
    "da": "danish",
    "nl": "dutch",
    "en": "english",
    "fi": "finnish",
    "fr": "french",
    "de": "german",
    "el": "greek",
    "hi": "hindi",
    "hu": "hungarian",
    "id": "indonesian",
    "ga": "irish",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "es": "spanish",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""Of ISO 639-1 codes: the names of PostgreSQL's text search configurations."""

UNSTEMMED = "simple"
"""For all others: words as they are written."""

FEWEST_LETTERS = 20
"""Of a text whose language can be told; "ok, thanks" is in any."""

_LETTER = re.compile(r"[^\W\d_]")
_lock = Lock()
_identifier: list[LanguageIdentifier] = []


def stemmer_of(text: str, *, otherwise: str) -> str:
    """The stemmer for the language of a text; `otherwise` when the text is too short to tell."""
    start = text[:2000]
    if len(_LETTER.findall(start)) < FEWEST_LETTERS:
        return otherwise
    return STEMMERS.get(_classified(start), UNSTEMMED)


def _classified(text: str) -> str:
    with _lock:
        if not _identifier:
            _identifier.append(_loaded())
        code: str = _identifier[0].classify(text)[0]
    return code


def _loaded() -> LanguageIdentifier:
    """One that knows our languages alone: the others would stay in memory, 28 MB in each process."""
    whole = LanguageIdentifier.from_modelpath(MODEL_DIR / MODEL_FILE)
    whole.set_languages([*STEMMERS, "zh", "ja", "ko", "th"])
    return LanguageIdentifier(
        whole.nb_ptc, whole.nb_pc, whole.nb_classes, whole.tk_nextmove, whole.tk_output, tk_row=whole.tk_row
    )
