"""`zoo explore`: a page in the browser on which trained networks answer, beside all their attention.

Needs the extra `explore`. Nothing here asks for a task: the view of a task gives the form of its inputs, its answers
and its attention.
"""
