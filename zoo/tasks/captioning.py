"""Images to captions."""

from zoo.predicting.captioning import CaptioningPredictions
from zoo.tasks.captions import Captions


class Captioning(CaptioningPredictions, Captions):
    """Any network that serves `captioning`. It writes one caption for each image."""
