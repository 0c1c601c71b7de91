"""Flickr30k: photographs of everyday activities, five captions each.

Young, Lai, Hodosh and Hockenmaier 2014, https://doi.org/10.1162/tacl_a_00166: 31,783 images without splits. Karpathy's
splits have 29,000 for training, 1,014 for validation and 1,000 for the test.
"""

from zoo.data.images.photographs import Photographs


class Flickr30k(Photographs):
    """`dataset_flickr30k.json`, or the authors' `results_20130124.token`. Without lists such as `train.txt`, `val.txt`
    and `test.txt` the splits are drawn, by image."""

    name = "flickr30k"
    texts = ("dataset_flickr30k.json", "results_20130124.token", "results.csv")
    photographs = "https://shannon.cs.illinois.edu/DenotationGraph, a form"
