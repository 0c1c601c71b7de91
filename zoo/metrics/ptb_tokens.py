"""Captions cut into words as in coco-caption, so that scores can be compared with published ones.

coco-caption runs a Java program, the PTBTokenizer of Stanford CoreNLP 3.4.1 with -preserveLines -lowerCase, and removes
punctuation. These rules were found from the program's output and share no code with it. The tokens are equal for all of
32,465 captions of Multi30k and 681 sentences of NLVR, and for 99.9 % of 168,553 sentences of children's books.

Its quirks are kept. Brackets stay as -lrb- or -rrb-, since the list of punctuation has them in capitals only. !!!, ?!,
%, $, #, @ and & stay too. A full stop stays with an abbreviation, a single letter, and any word before a comma. One
quirk is left out: the program looks beyond the end of a caption, and separates a last single letter from its full stop
if the next line begins with a word such as A or The. Writing without blanks between words would become one token per
clause. It is cut into letters instead, as sacrebleu cuts Chinese, and its punctuation is removed.
"""

import re

PUNCTUATION = frozenset(["''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"])
"""The removed tokens, as coco-caption lists them, without the brackets in capitals, which never occur."""

ABBREVIATIONS = """adj adm adv al ala alex apr ariz assn assoc asst atty aug ave bhd bldg blvd brig bros calif capt cf
cie cmdr co col colo comdr conn corp cos cpl ct dak dec dept det dr drs elec ens esq est etc ext feb fla fri ft ga gen
gov govs hon inc ind insp intl invt jan jos jr jul jun kan kans ky lieut lt ltd maj mar md messrs mfg mich minn mlle mme
mo mon mont mr mrs ms msgr mt mtg natl neb nev nov oct okla penn pfc ph plc ppte ppty pres prof profs pte ptes pty ptys
pvt rd rep reps rev rt sen sens sep sept seq sfc sgt spc sq sr st ste supt supts sys tel tenn thu treas tue tues univ va
vs vt wed wis wisc wm wyo"""
CAPITALISED = "ark az del ill la mass miss ore pa tex wash"
"""Abbreviations only if they begin with a capital letter."""
NUMBERED = "art ca fig figs no nos op pp prop"  # Abbreviations only before a number
OPENERS = """a about according after an as at but earlier he her here however if in it last many more now once one other
our she since so some such that the their then there these they this we what when while yet you"""
"""Words that begin a sentence if they have a capital letter. A full stop before them ends a sentence."""
TWO = {
    "cannot": ("can", "not"),
    "gonna": ("gon", "na"),
    "gotta": ("got", "ta"),
    "wanna": ("wan", "na"),
    "gimme": ("gim", "me"),
    "lemme": ("lem", "me"),
}
"""Words that are cut in two."""

BRACKETS = {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
SIGNS = {"£": "#", "€": "$", "¢": "cents", "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4"}
ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&nbsp;": " ", "&amp;": "&", "\xad": ""}
QUOTES_AND_DASHES = frozenset('"“”‘’«»…–—―')  # Each of these alone becomes punctuation

UNSPACED = re.compile(
    "[\u0e00-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Letters of Thai, Lao, Tibetan, Burmese, Khmer, Japanese and Chinese."""
UNSPACED_MARKS = frozenset("。．，、！？：；·・「」『』《》〈〉【】（）～")


def _either(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


def _capitals(words: str) -> str:
    """Alternatives with a first capital letter, or all in capitals."""
    return _either(f"{words.title()} {words.upper()}")


LETTER, WORD, QUOTE = r"[^\W\d_½⅓⅔¼¾¹²³]", r"[^\W_½⅓⅔¼¾¹²³]", "['’]"
END = f"(?!{WORD})"
CLITIC = f"(?i:s|m|d|ll|re|ve){END}"
LINKED = f"{WORD}+(?:-{WORD}+)*"

TOKEN = re.compile(
    rf"""
  (?P<plain> [A-Za-z]+(?=[\s,;]|$) )  # most words; all later cases are rare
| (?P<none> [\s\u200b-\u200f\u2060\ufeff]+ )
| (?P<name>
    (?:https?://|www\.)[^\s"<>|()]*[^\s"<>|().,;:!?'-]
  | [A-Za-z0-9][\w.+-]*@[A-Za-z0-9][\w.-]*(?<=\w)
  | @[A-Za-z_]\w* | \#{LETTER}+
  | </?[A-Za-z!][^<>]*>
  )
| (?P<smiley> [<>]?[:;=]['o-]?[()dDpP\[\]]{END} )
| (?P<half> {QUOTE}[Tt](?=(?i:is|was)) | [Jj]{QUOTE}(?={LETTER}) | [Yy]{QUOTE}(?={LETTER}{{3}}) )  # 't is, y' all
| (?P<clitic> [Nn]{QUOTE}[Tt]{END} | {QUOTE}{CLITIC} )
| (?P<quoted>
    {QUOTE}[Nn]{QUOTE} | {QUOTE}(?i:em) | {QUOTE}(?i:n|cause|till?){END} | {QUOTE}[2-9]0s{END} | {QUOTE}\d\d{END}
  )
| (?P<stopped>  # a full stop follows and belongs to it
    (?i:{_either(ABBREVIATIONS)})\.{END} | {_capitals(CAPITALISED)}\.{END} | (?i:{_either(NUMBERED)})\.(?=\s*\d)
  | {LETTER}(?:\.{LETTER})+\.(?:-{WORD}+)*{END} | {LETTER}\.(?!{WORD}|\s+{_capitals(OPENERS)}{END})
  | {LINKED}\.(?=[,;:]) | {WORD}+\.(?:-{WORD}+)+
  )
| (?P<negated> {WORD}+?(?:[-/]{WORD}+?)*?(?=[Nn]{QUOTE}[Tt]) )
| (?P<elided>
    [A-HJ-XZdlno]{QUOTE}{LETTER}{{2,}}
  | {LETTER}+[aeiouyAEIOUY]{QUOTE}(?!{CLITIC})[aeiouA-Z]{LETTER}*
  | (?i: cap'n | c'mon | e'er | ev'ry | li'l | nat'l | nor'easter | o'o{END} | s'mores | somethin['’]
    | (?:d|l|ol)['’]{END} )
  )
| (?P<number> (?:(?<!\w)[-+])?(?: \d+(?:[.,]\d+)+(?:-{WORD}+)+ | \d*(?:[.,:]\d+)+ ) | (?<!\w)[-+]\d+{END} )
| (?P<word>
    {LETTER}{WORD}*(?:[.!?]{LETTER}{WORD}*)+ | {WORD}+(?:_{WORD}+)+ | [A-Z]+(?:&[A-Z]+)+
  | {WORD}+(?:-(?:[on]{QUOTE})?{WORD}+)*(?:/{LINKED}){{0,2}}
  )
| (?P<several> \.\.\. | [!?]+ | --+ | \*+ | \#\#+ )
| (?P<sign> . )
""",
    re.VERBOSE,
)


def ptb_tokens(text: str) -> list[str]:
    """The words of one caption, in lower case and without punctuation."""
    if "&" in text or "\xad" in text:
        for written, meant in ENTITIES.items():
            text = text.replace(written, meant)
    if not text.isascii():
        text = UNSPACED.sub(r" \g<0> ", text)
    tokens: list[str] = []
    for match in TOKEN.finditer(text):
        kind, token = match.lastgroup, match.group().lower()
        if kind == "none" or token in QUOTES_AND_DASHES or token in UNSPACED_MARKS or token.startswith("--"):
            continue
        if kind == "clitic":
            token = token.replace("’", "'")
        elif kind == "smiley":
            token = token.replace("(", BRACKETS["("]).replace(")", BRACKETS[")"])
        elif kind == "sign":
            token = BRACKETS.get(token) or SIGNS.get(token, token)
        if token in TWO:
            tokens += TWO[token]
        elif token not in PUNCTUATION:
            tokens += token.split() if kind == "name" else (token,)
    return tokens
