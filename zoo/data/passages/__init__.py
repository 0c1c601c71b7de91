"""Articles whose summary is written from paragraphs of several documents."""
