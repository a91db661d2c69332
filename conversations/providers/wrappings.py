"""What models put around an answer, or in its place: a fence, an assent, an announcement, a refusal. Pure functions."""

import re

REFUSALS = (
    *("i'm sorry", "i am sorry", "sorry,", "sorry.", "sorry!", "i apologize", "my apologies", "i can't", "i cannot"),
    *("i can not", "i'm unable", "i am unable", "i'm not able", "i am not able", "i won't", "i will not"),
    *("as an ai,", "as an ai i", "as an ai language", "as an ai model", "as an ai assistant", "unfortunately, i"),
    *("es tut mir leid", "tut mir leid", "entschuldigung", "ich kann nicht", "ich kann das", "ich kann diese"),
    *("leider kann ich", "als ki kann", "als ki-modell", "als ki-sprachmodell", "als ki-assistent", "je suis désolé"),
    *("je suis désolée", "désolé", "désolée", "je ne peux pas", "je ne suis pas en mesure", "lo siento", "no puedo"),
    *("como modelo de lenguaje", "como modelo de linguagem", "como modelo de ia", "lamento", "desculpe", "desculpa"),
    *("sinto muito", "não posso", "mi dispiace", "non posso", "het spijt me", "ik kan dit niet", "przepraszam"),
    *("przykro mi", "nie mogę", "üzgünüm", "извините", "простите", "к сожалению, я", "я не могу", "мне жаль"),
    *(
        "抱歉",
        "很抱歉",
        "对不起",
        "對不起",
        "我无法",
        "我無法",
        "我不能",
        "作为一个人工智能",
        "作为一个ai",
        "作为一个语言模型",
    ),
    *("作为人工智能", "作为ai", "申し訳", "すみません", "죄송", "عذرا", "عذرًا", "آسف", "آسفة", "أعتذر", "لا أستطيع"),
    *("क्षमा करें", "मुझे खेद", "xin lỗi", "maaf", "maafkan"),
)
"""How refusals begin, in small letters."""

_SPACED = re.compile("[a-z\u00c0-\u08ff\u1e00-\u1fff]\\Z")
"""Ends in a letter of a script that sets spaces and writes endings into the word, which is then another one."""
_BEGINS = tuple(re.compile(re.escape(one) + (r"\b" if _SPACED.search(one) else "")) for one in REFUSALS)

_MARKS = " \t\n\"'“”„«»*_#>-"

_ASSENT = (
    r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|alright|all right|got it|understood|gladly"
    r"|(?:i['’]d be |i would be |i['’]m )?(?:happy|glad) to help"
    r"|klar|natürlich|gerne?|sicher|selbstverständlich|in ordnung|bien sûr|certainement|avec plaisir|d['’]accord"
    r"|claro(?: que sí)?|por supuesto|desde luego|com certeza|certo|certamente|volentieri|natuurlijk|zeker"
    r"|oczywiście|jasne|конечно|разумеется|хорошо|tabii(?: ki)?|elbette|当然(?:可以)?|當然(?:可以)?|好的|没问题"
    r"|もちろん(?:です)?|はい|承知しました|わかりました|물론(?:입니다|이죠)?|네|بالتأكيد|بالطبع|ज़रूर|बेशक"
    r"|chắc chắn(?: rồi)?|tentu(?: saja)?)"
)
_HERE = (
    r"(?:(?:here(?:['’]s| is| are| it is| you are| you go)|hier (?:ist|sind|is|zijn)|voici|oto|вот|işte|đây là|berikut"
    r"|aquí (?:está|están|tiene|tienes)|aqui (?:está|estão)|ecco)\b"
    r"|以下是|以下は|这是|這是|다음은|إليك|यहाँ)"
)
_BEFORE = r"\A[\s*_#\"“>]*"
_ONLY_ASSENT = re.compile(rf"{_BEFORE}{_ASSENT}[^\w\n]*(?:\n|\Z)", re.IGNORECASE)
_OPENING_ASSENT = re.compile(rf"{_BEFORE}{_ASSENT}(?:\s*[!.。！]+[*_]*\s*|\s*[,，、–—-]\s*(?={_HERE}))", re.IGNORECASE)
_ANNOUNCED = re.compile(rf"{_BEFORE}{_HERE}[^\n]{{0,120}}[:：][*_ \t]*\n", re.IGNORECASE)
_FENCE = re.compile(r"\A```\w*\s*\n(.*?)\n?```\s*\Z", re.DOTALL)


def is_refusal(text: str) -> bool:
    """Whether a text begins as refusals do."""
    begin = text.lstrip(_MARKS)[:40].lower().replace("’", "'")
    return any(one.match(begin) for one in _BEGINS)


def unwrapped(text: str) -> str:
    """The text without the assent before it, the line that announces it, the fence around it."""
    for opening in (_ONLY_ASSENT, _OPENING_ASSENT, _ANNOUNCED):
        text = opening.sub("", text.strip(), count=1)
    text = text.strip()
    fenced = _FENCE.match(text)
    return fenced[1].strip() if fenced else text
