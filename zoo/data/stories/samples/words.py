"""The words of the tasks in a house or a town: people, places, things and verbs."""

from __future__ import annotations

HE = ("John", "Daniel")
SHE = ("Mary", "Sandra")
HOUSEHOLD = ("Mary", "John", "Daniel", "Sandra")
TRADERS = ("Mary", "Fred", "Bill", "Jeff")
RECEIVERS = ("John", "Mary", "Sandra", "Daniel")
"""The household of task 7. In `TRADERS` and here, earlier people receive a thing before later ones."""
TOWNSFOLK = ("Mary", "Fred", "Bill", "Julie")

ROOMS = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
TOWN = ("bedroom", "cinema", "kitchen", "office", "park", "school")
OBJECTS = ("apple", "football", "milk")

GO = ("went", "went back", "moved", "journeyed", "travelled")
GET = ("got", "took", "grabbed", "picked up")
DROP = ("dropped", "left", "discarded", "put down")
GIVE = ("gave", "handed", "passed")
THEN = ("After that", "Afterwards", "Following that", "Then")
TIMES = ("yesterday", "this morning", "this afternoon", "this evening")
