"""Flickr30k: photographs of everyday activities, five captions each.

Young, Lai, Hodosh and Hockenmaier 2014, https://doi.org/10.1162/tacl_a_00166: 31,783 images, which come without splits.
Karpathy's has 29,000 for training, 1,014 to validate and 1,000 to test.
"""

from __future__ import annotations

from zoo.data.images.photographs import Photographs


class Flickr30k(Photographs):
    """`dataset_flickr30k.json`, or the authors' `results_20130124.token`, of which splits are drawn by image unless
    there are lists such as `train.txt`, `val.txt` and `test.txt`."""

    name = "flickr30k"
    texts = ("dataset_flickr30k.json", "results_20130124.token", "results.csv")
    photographs = "https://shannon.cs.illinois.edu/DenotationGraph, a form"
