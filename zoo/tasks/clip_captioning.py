"""Clips to captions."""

from zoo.predicting.clip_captioning import ClipCaptioningPredictions
from zoo.tasks.captions import Captions


class ClipCaptioning(ClipCaptioningPredictions, Captions):
    """Any network that serves `clip_captioning`. It writes one caption for each clip."""
