"""Stories with questions about them: what a network answers from memory."""
