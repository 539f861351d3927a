"""Checks: any schedule, whoever made it, against a spec."""
