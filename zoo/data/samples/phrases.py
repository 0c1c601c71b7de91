"""The words and sentence patterns of the generated reviews (`reviews.py`).

A pattern is a line of tokens separated by blanks. `{opinion}` takes a sentiment phrase, `{aspect}` one of an aspect's things
("the soup"), `{topic}` the aspect itself ("the food"), any other slot an entry of `FREE` of that name. Each kind has many
patterns, with the phrase now early and now late: with one pattern attention settles on the word beside the phrase.
"""

from __future__ import annotations

from typing import NamedTuple


class Aspect(NamedTuple):
    """One of the things a review speaks about, and the adjectives that go with it."""

    topic: str
    things: tuple[str, ...]
    good: tuple[str, ...]
    bad: tuple[str, ...]


ASPECTS = (
    Aspect(
        "the food",
        ("the soup", "the pasta", "the steak", "the curry", "the salad", "the dessert", "the fish", "the lasagna"),
        ("delicious", "tasty", "fresh", "flavorful", "savory", "appetizing", "well-seasoned", "filling"),
        ("bland", "stale", "greasy", "tasteless", "salty", "overcooked", "lukewarm", "heavy"),
    ),
    Aspect(
        "the service",
        ("the waiter", "the waitress", "the host", "the bartender", "the staff", "the manager", "the cashier"),
        ("friendly", "attentive", "polite", "helpful", "courteous", "quick", "patient", "welcoming"),
        ("rude", "careless", "slow", "grumpy", "impatient", "clumsy", "arrogant", "cold"),
    ),
    Aspect(
        "the price",
        ("the bill", "the total", "the check", "the corkage fee", "the cover charge", "the wine markup"),
        ("fair", "reasonable", "modest", "affordable", "moderate", "sensible", "low", "competitive"),
        ("steep", "excessive", "unfair", "inflated", "unreasonable", "high", "exaggerated", "shocking"),
    ),
    Aspect(
        "the place",
        ("the dining room", "the terrace", "the patio", "the lounge", "the back room", "the entrance", "the bar"),
        ("cozy", "charming", "clean", "bright", "comfortable", "quiet", "spacious", "elegant"),
        ("dirty", "cramped", "noisy", "shabby", "gloomy", "drafty", "cluttered", "smelly"),
    ),
)

GOOD = ("good", "nice", "pleasant", "impressive", "lovely", "satisfying", "agreeable", "remarkable")
"""Adjectives that go with every aspect."""
BAD = ("bad", "poor", "disappointing", "unpleasant", "annoying", "lousy", "upsetting", "weak")

STRENGTH = {
    (False, 1): ("", "", "fairly", "rather", "quite", "pretty", "somewhat"),
    (False, 2): ("very", "extremely", "truly", "incredibly", "really", "exceptionally"),
    (True, 1): ("not", "not very", "not really", "hardly", "not exactly", "not particularly"),
    (True, 2): ("not at all", "by no means", "anything but", "far from", "in no way", "not the least bit"),
}
"""(negated, intensity) -> what stands before the adjective: `not very good` is mildly bad, `not at all good` very bad."""

FREE = {
    "when": (
        *("that evening", "last friday", "this time", "at noon", "on tuesday", "after the show", "over the holidays"),
        *("in july", "on my birthday", "around nine", "on both visits", "before the game", "this morning", "yesterday"),
    ),
    "other": (
        *("the old mill", "luigi 's", "the diner downtown", "the blue door", "chez paul", "the cafe next door"),
        *("mama rosa", "the golden dragon", "taco alley", "the grill in mesa", "pho house", "the brewery uptown"),
    ),
    "person": (
        *("my sister", "my brother", "our neighbor", "a colleague", "my roommate", "a friend of mine", "my aunt"),
        *("the man behind us", "the tour guide", "my coach", "the blogger", "our driver", "uncle joe", "my barber"),
    ),
    "guest": (
        *("my wife", "my husband", "my parents", "our friends", "the kids", "my boss", "my cousin linda", "grandma"),
        *("the bridesmaids", "our two boys", "my date", "the whole office", "my nephew", "the book club"),
    ),
}

MAIN = (
    "what matters to me is {topic} , and {aspect} was {opinion} .",
    "{aspect} was {opinion} , and nothing counts more for me than {topic} .",
    "i come here for {topic} above all , and {aspect} was {opinion} {when} .",
    "most of all i care about {topic} ; {aspect} was {opinion} .",
    "the most important thing to me is {topic} , which was {opinion} {when} .",
    "{opinion} is my verdict on {aspect} , and {topic} decides it for me .",
    "my stars go first of all to {topic} : {aspect} was {opinion} .",
    "for me a restaurant stands or falls with {topic} , and {aspect} was {opinion} .",
    "above everything else i judge by {topic} : {opinion} , at least {aspect} {when} .",
    "i found {aspect} {opinion} , and that weighs more than all the rest .",
    "{aspect} was {opinion} , which is my main concern when we eat out .",
    "the deciding point for us was {topic} , and {aspect} was {opinion} .",
    "{aspect} seemed {opinion} to me , and this counts three times as much as the rest .",
    "{opinion} , that is {aspect} , and {topic} is what i rate first !",
)
"""The writer's opinion of the main aspect, marked as such: it counts MAIN_WEIGHT times."""

MINOR = (
    "{aspect} was {opinion} .",
    "{when} {aspect} was {opinion} , at least at our table .",
    "we found {aspect} {opinion} .",
    "{opinion} is how i would describe {aspect} .",
    "as for {aspect} , it was {opinion} from start to finish .",
    "to be honest , {aspect} seemed {opinion} to me .",
    "{aspect} turned out to be {opinion} once we sat down .",
    "then {aspect} : {opinion} , as you can see in my photos !",
    "{aspect} , on the other hand , struck me as {opinion} .",
    "nobody at our table would deny that {aspect} was {opinion} .",
    "{opinion} , that was my first thought about {aspect} {when} .",
    "i must say that {aspect} was {opinion} {when} .",
    "{when} i would have called {aspect} {opinion} .",
    "also , {aspect} was {opinion} the whole time we were here .",
)
"""The writer's own opinion of another aspect of this restaurant: it counts once."""

DECOY = (
    "at {other} {aspect} is {opinion} .",
    "{aspect} is {opinion} at {other} , but that is another story .",
    "{person} calls {aspect} {opinion} , but we never agree .",
    "{person} had told us that {aspect} would be {opinion} .",
    "under the old owner {aspect} was {opinion} , people say .",
    "i had expected {aspect} to be {opinion} .",
    "{aspect} used to be {opinion} years ago .",
    "{person} said that {aspect} was {opinion} {when} .",
    "the ad in the paper promised that {aspect} would be {opinion} .",
    "{opinion} is what {person} thinks of {aspect} .",
    "whether {aspect} is {opinion} on sundays i cannot say .",
    "{opinion} , that is how {person} remembers {aspect} at {other} .",
    "{when} we compared it with {other} , where {aspect} was {opinion} .",
    "if you want {aspect} to be {opinion} , go to {other} !",
)
"""Somebody else's opinion, an expectation, or an opinion of another place or time: it does not count."""

FILLER = (
    "there is a page about {aspect} on their website .",
    "{guest} took a photo of {aspect} {when} .",
    "we talked about {aspect} with {guest} on the way home .",
    "i do not know who chose {aspect} .",
    "{when} {person} asked us about {aspect} .",
    "{guest} had read about {topic} in a magazine .",
    "a sign by the door says something about {topic} .",
    "{guest} came along {when} because of {topic} .",
    "next to us {person} was telling a story about {aspect} .",
    "i was going to write more about {aspect} , but time is short .",
    "you can read about {topic} in many other reviews !",
    "a year ago they changed {aspect} , as far as i know .",
    "{person} never says a word about {topic} .",
    "so much for {topic} , here is the rest .",
)
"""No opinion at all."""
