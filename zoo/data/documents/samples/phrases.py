"""The words and sentence patterns of the generated reviews (`reviews.py`).

A pattern is a line of tokens separated by blanks. `{opinion}` is replaced by a sentiment phrase, `{aspect}` by a thing of an
aspect ("the soup"), `{topic}` by the aspect itself ("the food"), any other slot by an entry of `FREE` of that name. Each kind
has many patterns, with the phrase early or late. With a single pattern, attention would settle on the word next to the phrase.
"""

from typing import NamedTuple


class Aspect(NamedTuple):
    """A subject of reviews, such as the food, and the adjectives that fit it."""

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
"""Adjectives that fit every aspect."""
BAD = ("bad", "poor", "disappointing", "unpleasant", "annoying", "lousy", "upsetting", "weak")

STRENGTH = {
    (False, 1): ("", "", "fairly", "rather", "quite", "pretty", "somewhat"),
    (False, 2): ("very", "extremely", "truly", "incredibly", "really", "exceptionally"),
    (True, 1): ("not", "not very", "not really", "hardly", "not exactly", "not particularly"),
    (True, 2): ("not at all", "by no means", "anything but", "far from", "in no way", "not the least bit"),
}
"""(negated, intensity) -> words before the adjective: `not very good` is mildly bad, `not at all good` very bad."""


def _joined(first: str, second: str) -> tuple[str, ...]:
    return tuple(a + b for a in first.split() for b in second.split() if a != b)


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
    "first": tuple(
        "aaron abby adam agnes alan alice amber amy andrew angela anna arthur barbara becky ben beth bill bob brandon brenda "
        "brian bruce caleb carla carol casey chad charlie chloe claire clara cody connor craig curtis cynthia daisy dale dan "
        "daphne debbie dennis diana donna doris doug duncan earl eddie edith elena eli ella emily emma eric esther ethan eva "
        "felix fiona frank fred gail gary george gina gloria gordon grace greg hannah harold harry hazel heather helen henry "
        "holly howard ian ingrid irene iris isaac ivan jack jacob james janet jason jean jenny jerry jill jim joan joel john "
        "judy julia karen karl kate keith ken kevin kim kurt larry laura leo leslie lewis lily lisa lucas lucy luke lydia "
        "mabel marcus maria mark martha martin mary matt max megan melissa mike mildred molly nancy naomi nathan ned neil "
        "nick nina noah nora norman olga oliver olive oscar owen pam patrick paula peggy pete phil phoebe rachel ralph ray "
        "rita robin roger ron rosie roy ruby ruth ryan sally sam sandra sarah scott sean seth sharon sheila sid simon sonia "
        "stan stella steve sue susan ted teresa tim tina todd tom tony tracy vera vicky victor violet wade walter wanda "
        "wayne wendy will yvonne zach zoe".split()
    ),
    "last": _joined("gold rosen stern wein lieb gruen roth eisen baum blum feld hof kauf kirsch", "berg stein man feld thal baum bach"),
    "town": _joined(
        "ash bay birch brook cedar clay clear elm fair forest glen green hart haw hazel high hill lake linden maple mill north oak "
        "pine red ridge river rock rose silver spring stone sun west wood",
        "ville ton field wood dale ford port mont view brook burg land",
    ),
    "dish": tuple(
        "baklava biryani bouillabaisse bruschetta burrito calamari cannoli carbonara ceviche cheesecake chili chowder churros "
        "coleslaw couscous crepes croissant dumplings empanadas enchiladas falafel fajitas flan focaccia fondue fries gazpacho "
        "gnocchi goulash gumbo guacamole hummus jambalaya kebab kimchi latkes linguine lobster macaroni meatloaf minestrone "
        "moussaka mussels nachos noodles omelet oysters paella pancakes pastrami pierogi pilaf polenta porridge quesadilla "
        "quiche ramen ratatouille ravioli rigatoni risotto samosas sashimi satay schnitzel scallops shawarma shrimp sorbet "
        "souffle spaghetti strudel stroganoff sushi tabouleh tacos tamales tartare tempura teriyaki tiramisu tofu tortellini "
        "trout waffles wontons ziti".split()
    ),
    "number": tuple(map(str, range(101, 1000))),
    "time": tuple(f"{hour}:{minute:02}" for hour in range(1, 13) for minute in range(0, 60, 5)),
}  # fmt: skip
"""Rare words (names, towns, dishes, numbers) carry no opinion, as in real reviews; an average over words includes them all."""

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
    "whether {aspect} is {opinion} on sundays i can not say .",
    "{opinion} , that is how {person} remembers {aspect} at {other} .",
    "{when} we compared it with {other} , where {aspect} was {opinion} .",
    "if you want {aspect} to be {opinion} , go to {other} !",
)
"""Somebody else's opinion, an expectation, or an opinion of another place or time: it does not count."""

FILLER = (
    "we drove in from {town} with {first} , {first} , {first} and the {last} twins , and {guest} took a photo of {aspect} at {time} .",
    "{guest} had the {dish} and the {dish} , {first} the {dish} , {first} the {dish} , and then we talked about {topic} .",
    "there is a page about {topic} on their website , by {first} {last} , {first} {last} and {first} {last} of {town} .",
    "they moved from {number} {town} street to {number} {town} avenue at {time} sharp , i read , and {aspect} came along .",
    "i do not know who chose {aspect} : {first} , {first} {last} , old {first} or the {last} brothers from {town} .",
    "{when} {person} and {first} {last} asked us about {aspect} , then about the {dish} , the {dish} and the road to {town} .",
    "{guest} had read about {topic} in the {town} herald , page {number} , next to the recipe for {dish} by {first} {last} .",
    "a sign by the door mentions {topic} , the {dish} , bus {number} to {town} , and a choir from {town} at {time} .",
    "{guest} and {first} took bus {number} from {town} at {time} and bus {number} from {town} at {time} because of {topic} .",
    "next to us {first} {last} from {town} told {first} {last} from {town} a story about {aspect} .",
    "i could write more about {aspect} , about {first} and the {dish} , about {town} , about room {number} , but it is {time} .",
    "you can read about {topic} in the reviews by {first} {last} , {first} {last} , {first} {last} and {first} from {town} !",
    "in {town} , at {number} {town} road , they changed {aspect} when {first} {last} left for {town} , as far as i know .",
    "{first} never says a word about {topic} , nor does {first} , nor {first} {last} , and {person} is busy with the {dish} .",
    "so much for {topic} ; {first} and {first} were late , {first} {last} had lost ticket {number} , and {guest} waited until {time} .",
    "{aspect} is mentioned on receipt {number} , between the {dish} at {time} , the {dish} at {time} and the {dish} .",
)
"""Long sentences without any opinion: names, dishes and numbers."""
