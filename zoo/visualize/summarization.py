"""The view of summarization: a summary over its article, with the place of each copied word."""

from zoo.visualize.texts import TextView


class SummarizationView(TextView):
    """Articles with what was written about them."""

    noun = "article"
    columns = ("article", "summary", "log-probability")
