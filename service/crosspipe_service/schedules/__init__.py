"""Schedules: a cluster spec in, the best schedule found and its certificate out."""
