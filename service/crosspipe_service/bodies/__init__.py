"""Request bodies: their media types, their size, and the time they may take."""
