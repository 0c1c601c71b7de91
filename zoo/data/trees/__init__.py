"""Trees over sentences, alone or in pairs."""
