"""The public answer: what a search found, as data for people and tools."""
