"""Health: whether the service answers, and how busy it is."""
