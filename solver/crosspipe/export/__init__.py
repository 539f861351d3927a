"""Files that other tools act on: torch, pictures."""
