"""The embedded sample of dialogues: a user and a bot tell each other facts, and ask for them turns later.

A dialogue has three to five exchanges, each a turn of the user and the reply of the bot:

- The user states a fact, and the bot acknowledges it: "i live in Oslo ." "good to know ."
- The user asks the bot for a fact about the bot, which is any value: "where do you live ?" "i live in Lima ."
- The user asks for a fact that one of them has stated. The reply repeats its value.
- The user asks for a fact about the user that was not stated: "i do not know that yet ." This generic reply is possible
  after every question of this form, and wrong if the fact was stated.
- The user gives a name, his own or that of a friend, and asks for it later. Most names occur in one dialogue alone, so
  that only a network that copies can write them.
- The user says something without a fact.

The question for a fact does not contain its value, and no value is more frequent than another. The distance of a fact
is the number of turns between the turn that states it and the reply, at least 1: a reader of the last turn sees the
question alone. It is right by chance, for at most one value in ten.
"""

import random
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from zoo.data.dialogues.dialogue import Dialogue, Fact

WORLD: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("world.toml").read_text("utf-8"))
VALUES = {name: attribute["values"].split() for name, attribute in WORLD.items()}
NAMED = {
    "name": ("hello , my name is {} .", "nice to meet you , {} .", "what is my name ?", "your name is {} ."),
    "friend": (
        "my best friend is called {} .",
        "i hope to meet {} .",
        "who is my best friend ?",
        "{} is your friend .",
    ),
}
"""A new name: the turns that give it, and the turns that ask for it."""
OPENINGS = ("", "", "", "tell me ,", "by the way ,", "please ,")
ACKNOWLEDGED = ("good to know .", "how nice .", "i see .", "thank you for telling me .")
UNKNOWN = "i do not know that yet ."
CHAT = (
    ("the weather is fine today .", "i am glad to hear it ."),
    ("it has been a long week .", "you need some rest ."),
    ("i am in a hurry .", "then i will be brief ."),
    ("this is fun .", "i enjoy it as well ."),
)
LEAST, MOST = 3, 5  # Exchanges of a dialogue
TELLING = {"state": 4, "ask": 4, "name": 2, "chat": 1}
ASKING = {"recall": 9, "unstated": 1}
"""The kinds of exchanges, with their weights. A dialogue begins with telling and ends with asking."""
SYLLABLES = ("bcdfgklmnprstvz", "aeiou", "lmnrsk")


class Stated(NamedTuple):
    """A fact that was stated, and not yet asked for."""

    attribute: str
    form: str  # The reply that repeats it
    question: str
    value: str
    turn: int
    word: int


def generate(count: int, *, seed: int, speakers: Sequence[str] = ("user", "bot")) -> Iterator[Dialogue]:
    """`count` dialogues of two `speakers`. Dialogue i depends only on the other arguments and on i."""
    for index in range(count):
        one = _SmallTalk(random.Random(f"small talk {seed} {index}"))
        one.talk()
        yield Dialogue(tuple(one.turns), (*speakers,) * (len(one.turns) // 2), tuple(one.facts))


class _SmallTalk:
    """A dialogue that is being made."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.turns: list[str] = []
        self.facts: list[Fact] = []
        self.open: list[Stated] = []
        self.new = {"attributes": [*WORLD], "names": [*NAMED]}
        for names in self.new.values():
            draw.shuffle(names)

    def talk(self) -> None:
        """Make all exchanges."""
        count = self.draw.randint(LEAST, MOST)
        for number in range(count):
            asking = self.draw.random() < number / (count - 1)
            getattr(self, f"_{self._kind(ASKING if asking else TELLING)}")()

    def _kind(self, weights: dict[str, int]) -> str:
        """A kind of exchange, of those that are possible."""
        impossible = {"recall": not self.open, "name": not self.new["names"]}
        kinds = [kind for kind in weights if not impossible.get(kind)]
        return self.draw.choices(kinds, [weights[kind] for kind in kinds])[0]

    def _exchange(self, user: str, bot: str) -> None:
        self.turns += [user, bot]

    def _asking(self, question: str) -> str:
        return f"{self.draw.choice(OPENINGS)} {question}".strip()

    def _note(self, attribute: str, form: str, question: str, value: str, turn: int) -> None:
        word = self.turns[turn].split().index(value)
        self.open.append(Stated(attribute, form, question, value, turn, word))

    def _state(self) -> None:
        name = self.new["attributes"].pop()
        form, value = WORLD[name], self.draw.choice(VALUES[name])
        self._exchange(form["own"].format(value), self.draw.choice(ACKNOWLEDGED))
        self._note(name, form["other"], form["own_question"], value, len(self.turns) - 2)

    def _ask(self) -> None:
        name = self.new["attributes"].pop()
        form, value = WORLD[name], self.draw.choice(VALUES[name])
        self._exchange(self._asking(form["other_question"]), form["own"].format(value))
        self._note(name, form["own"], form["other_question"], value, len(self.turns) - 1)

    def _recall(self) -> None:
        fact = self.open.pop(self.draw.randrange(len(self.open)))
        self._exchange(self._asking(fact.question), fact.form.format(fact.value))
        turn = len(self.turns) - 1
        word = self.turns[turn].split().index(fact.value)
        self.facts.append(Fact(turn, word, fact.turn, fact.word, counted=fact.attribute not in NAMED))

    def _unstated(self) -> None:
        self._exchange(self._asking(WORLD[self.new["attributes"].pop()]["own_question"]), UNKNOWN)

    def _name(self) -> None:
        name = self.new["names"].pop()
        given, greeting, question, answer = NAMED[name]
        value = "".join(self.draw.choice(letters) for letters in SYLLABLES * 2).capitalize()
        self._exchange(given.format(value), greeting.format(value))
        turn = len(self.turns) - 2
        words = [one.split().index(value) for one in self.turns[turn:]]
        self.facts.append(Fact(turn + 1, words[1], turn, words[0], counted=False))
        self._note(name, answer, question, value, turn + 1)

    def _chat(self) -> None:
        self._exchange(*self.draw.choice(CHAT))
