"""Documents that are not English: their sentences and words, and the encoder of a checkpoint."""

import json

import pytest
import torch

from tests.data.serving import batches, prepared, table
from zoo.data.documents.encoding import DocumentEncoder
from zoo.data.documents.own import OwnDocuments
from zoo.data.text.options import SentenceOptions
from zoo.data.text.sentences import split_sentences, split_text
from zoo.data.text.tokenization import tokenizer_of

CHINESE = [
    ("这家餐厅很好。我喜欢！服务也不错。", "好"),
    ("菜太咸了。我不喜欢？再也不来。", "坏"),
]
GERMAN = [
    ("Dr. Müller kam am 3. Mai, z. B. mit Käse. Das Essen war sehr gut. Über alles schön!", "gut"),
    ("Das Hähnchen war ggf. kalt. Es schmeckte mir nicht. Nie wieder, Hr. Ober!", "schlecht"),
]
JAPANESE = [("とても美味しかった。また来ます！", "良い"), ("「まずい。」と彼は言った。もう行かない。", "悪い")]
THAI = [("อาหารอร่อยมาก\n\nบริการดี", "ดี"), ("รสชาติแย่มาก\n\nไม่มาอีก", "แย่")]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("de", "Dr. Müller kam am 3. Mai, z. B. um 8 Uhr. Das war gut.", 2),
        ("de_AT", "Dr. Müller kam am 3. Jänner, z. B. um 8 Uhr. Das war gut.", 2),
        ("de", "Es war z.B. Prof. Schmidt da. Er blieb bis zum 31. Dezember. Danach nicht.", 3),
        ("de", "Sie ist 12. Er ist 13.", 2),
        ("fr", "M. Dupont est venu. Il est parti.", 2),
        ("zh", "这家餐厅很好。我喜欢！“真的？！”她说。", 4),
        ("ja", "「まずい。」と彼は言った。もう行かない。", 3),
        ("hi", "यह अच्छा है। वह भी अच्छा है॥ हाँ", 3),
        ("my", "ဒါ ကောင်းတယ်။ သွားမယ်။", 2),
        ("th", "อาหารอร่อยมาก\n\nบริการดี", 2),
    ],
)
def test_sentences_of_a_language(language, text, expected):
    found = split_sentences(text, language=language)
    assert len(found) == expected, found
    assert "".join("".join(found).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("documents", "text"),
    [
        (CHINESE, {"language": "zh", "tokenizer": "characters"}),
        (CHINESE, {"language": "zh", "tokenizer": "spacy"}),
        (CHINESE, {"language": "zh", "tokenizer": "bpe", "vocabulary_size": 60}),
        (GERMAN, {"language": "de"}),
        (GERMAN, {"language": "de", "tokenizer": "unigram", "vocabulary_size": 90}),
        (JAPANESE, {"language": "ja", "tokenizer": "characters"}),
        (THAI, {"language": "th", "tokenizer": "characters"}),
        (THAI, {"language": "th", "tokenizer": "whitespace"}),
    ],
    ids=lambda value: "-".join(map(str, value.values())) if isinstance(value, dict) else "",
)
def test_texts_are_read_by_the_encoder_of_a_checkpoint(tmp_path, cache_dir, documents, text):
    if text.get("tokenizer") == "spacy":
        pytest.importorskip("spacy")
    path = table(tmp_path / "a.csv", (documents * 20)[:20])
    data = prepared(OwnDocuments(path=path, text={"minimum_frequency": 1, **text}, loader={"batch_size": 64}))
    assert data.describe()["splits"]["train"]["unknown_rate"] == 0
    encoder = DocumentEncoder.from_state(json.loads(json.dumps(data.encoder.state())))
    for batch in batches(data, "test"):
        for number, written in enumerate(batch.text):
            again = encoder(next(raw for raw, _ in documents if encoder.display(raw) == written))
            assert again.text == (written,)
            ids = batch.words[number][batch.word_mask[number]]
            assert torch.equal(again.words[again.word_mask], ids)


def test_an_encoder_of_before_there_were_tokenizers_to_choose_from(tmp_path):
    """Version 0.1 stored this state."""
    limits = {"max_sentences": 100, "max_words": 100, "max_word_length": 40, "minimum_frequency": 5}
    text = {"lower": True, "sentences": "punkt", **limits}
    encoder = DocumentEncoder.from_state({"words": ["the", "food", "was", "n't", "good", "."], "text": text})
    assert encoder("The food wasn't good.").words.tolist() == [[[2, 3, 4, 5, 6, 7]]]


def test_subwords_are_not_shortened():
    options = SentenceOptions(tokenizer="characters", max_word_length=1)
    assert not split_text("abc", options, tokenizer_of(options, options.language)).cut
    options = SentenceOptions(max_word_length=2)
    assert split_text("abc", options, tokenizer_of(options, options.language)).sentences == [["ab"]]
