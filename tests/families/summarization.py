"""Documents and their summaries, for `summarization`."""

from tests.families.copying import Copies


class Summaries(Copies):
    task_class = "zoo.tasks.summarization.Summarization"


FAMILY = Summaries()
