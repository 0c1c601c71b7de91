"""Draw the blocks of an answer: `terminal` for rich, `page` for HTML, `figure` for matplotlib."""
