"""Orders, the replay that times them, and what is measured on a timed schedule."""
