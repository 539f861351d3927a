"""Sweeps: one spec at many values of memory, latency, bandwidth, ...; points lend each other schedules and bounds."""
