"""Sounds to tones, as someone outside the package would write it: a memory that the network shortens.

Frames with lengths come in, and a tone for each stretch of equal frames is written. One network attends to an encoding
of a quarter of the frames, the other to the frames and to turns of several frames.
"""
