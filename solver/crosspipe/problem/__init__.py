"""The compiled problem: integers only, no solver."""
