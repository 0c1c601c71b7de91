"""The words of the tasks that play in a house or a town: who, where, what, and how it is said."""

from __future__ import annotations

HE = ("John", "Daniel")
SHE = ("Mary", "Sandra")
HOUSEHOLD = ("Mary", "John", "Daniel", "Sandra")
TRADERS = ("Mary", "Fred", "Bill", "Jeff")
RECEIVERS = ("John", "Mary", "Sandra", "Daniel")
"""The household of task 7. Of `TRADERS` and these, who stands first is given a thing before the others."""
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
