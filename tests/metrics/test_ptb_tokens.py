"""Tokens of captions against what the Java program of coco-caption made of the same sentences."""

import gzip
import json
import random
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoo.metrics.ptb_tokens import PUNCTUATION, ptb_tokens

FOUND = [
    ("The dogs., two cats; a man.", "the dogs. two cats a man"),
    ("Mr. and Mrs. Smith's house no. 7, St. Louis", "mr. and mrs. smith 's house no. 7 st. louis"),
    ("in the sun. on sat. at 9:30am", "in the sun on sat at 9:30 am"),
    ("He isn't; they CAN'T, y'all ain't", "he is n't they ca n't y' all ai n't"),
    ("'Tis the '90s, 'cause it's '1990'", "'t is the '90s 'cause it 's 1990"),
    ("O'Brien's Cap'n d'Artagnan and ma'am", "o'brien 's cap'n d'artagnan and ma'am"),
    ("one/two/three/four and/or 1/2-inch 3.5dogs", "one/two/three / four and/or 1/2-inch 3.5 dogs"),
    ("R&B, r&b, AT&T and at&t &amp; more", "r&b r & b at&t and at & t & more"),
    ('He said."Go" and left.The dog', "he said go and left.the dog"),
    ("a :) smile (see [it] {now})", "a :-rrb- smile -lrb- see -lsb- it -rsb- -lcb- now -rcb- -rrb-"),
    ("£5, €5, 5¢ and ½ cup", "# 5 $ 5 5 cents and 1/2 cup"),
    ("re-use a--b pre- -post – and — dashes", "re-use a b pre post and dashes"),
    ("@user #tag1 me@x.org http://t.co/a, www.x.org.", "@user #tag 1 me@x.org http://t.co/a www.x.org"),
    ("Vitamin C. The cat ate class a. food", "vitamin c the cat ate class a. food"),
    ("naïve Café’s don’t O’Neil", "naïve café 's do n't o’neil"),
    ("cannot gonna gimme lemme wanna gotta dunno", "can not gon na gim me lem me wan na got ta dunno"),
    ("** star ** ## two # one -5 +5 5-", "** star ** ## two # one -5 +5 5"),
    ("snake_case x_ <b>bold</b>", "snake_case x _ <b> bold </b>"),
]
"""Sentences, and what pycocoevalcap 1.2 with Java 17 gave for them."""


@pytest.mark.parametrize(("caption", "tokens"), FOUND)
def test_what_the_java_program_gives(caption, tokens):
    assert " ".join(ptb_tokens(caption)) == tokens


@pytest.mark.parametrize(
    ("caption", "tokens"),
    [
        ("两只狗，在草地上奔跑。", "两 只 狗 在 草 地 上 奔 跑"),
        ("一个穿 NBA 球衣的人", "一 个 穿 nba 球 衣 的 人"),
        ("猫が寝ている。", "猫 が 寝 て い る"),
        ("หมา", "ห ม า"),
        ("개가 달린다.", "개가 달린다"),
        ("Straße mit Häusern.", "straße mit häusern"),
    ],
)
def test_writing_without_blanks_is_cut_into_letters(caption, tokens):
    """Else a clause would be one word, and BLEU-4 of every Chinese caption 0."""
    assert " ".join(ptb_tokens(caption)) == tokens


def test_every_sentence_of_the_reference(root):
    file = root.parent / "shared" / "refs" / "ptb_tokens.json"
    if not file.exists():
        pytest.skip("no reference tokens beside the clone (../shared/refs/ptb_tokens.json)")
    rows = json.loads(file.read_text("utf-8"))["rows"]
    assert len(rows) >= 40
    assert {row["raw"]: " ".join(ptb_tokens(row["raw"])) for row in rows} == {row["raw"]: row["tokens"] for row in rows}


def test_captions_of_people_and_damaged_ones_against_the_program_itself(shared_data):
    """Two marks at random places of a caption: 97 of 100 such come out the same, too."""
    module = pytest.importorskip("pycocoevalcap.tokenizer.ptbtokenizer", reason="pycocoevalcap is not installed")
    if shutil.which("java") is None:
        pytest.skip("no Java")
    file = shared_data / "multi30k" / "data" / "task1" / "raw" / "test_2017_flickr.en.gz"
    captions = gzip.decompress(file.read_bytes()).decode().splitlines()
    draw, damaged = random.Random(0), []
    for caption in captions:
        for mark in draw.choices([".", ",", "!", "?!", "'", '"', "-", " (", ") ", "&", "%", "5", "'s", " "], k=2):
            place = draw.randrange(len(caption))
            caption = caption[:place] + mark + caption[place:]
        damaged.append(caption)
    found = module.PTBTokenizer().tokenize({n: [{"caption": text}] for n, text in enumerate([*captions, *damaged])})
    same = [" ".join(ptb_tokens(text)) == found[n][0] for n, text in enumerate([*captions, *damaged])]
    assert all(same[: len(captions)])
    assert sum(same[len(captions) :]) > 0.95 * len(damaged)


@given(st.text())
def test_any_text_gives_words_without_spaces_and_punctuation(text):
    tokens = ptb_tokens(text)
    assert all(token and token.split() == [token] for token in tokens)
    assert not PUNCTUATION & set(tokens)
    assert ptb_tokens(f"  {text}\n") == tokens


def test_nothing_gives_nothing():
    assert ptb_tokens("") == ptb_tokens(" . , -- '' ") == []
