"""Flickr8k: photographs of people and dogs in action, five captions each.

Hodosh, Young and Hockenmaier 2013, https://doi.org/10.1613/jair.3994: 6,000 images for training, 1,000 for validation
and 1,000 for the test, in the authors' lists and in Karpathy's.
"""

from zoo.data.images.photographs import Photographs


class Flickr8k(Photographs):
    """`dataset_flickr8k.json`, or the authors' `Flickr8k.token.txt` with `Flickr_8k.trainImages.txt` and so on."""

    name = "flickr8k"
    texts = ("dataset_flickr8k.json", "Flickr8k.token.txt", "captions.txt")
    photographs = "https://forms.illinois.edu/sec/1713398, a form (Flickr8k_Dataset.zip)"
