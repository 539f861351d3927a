"""The independent checker: judges any schedule against a problem, sharing no code with those who make schedules."""
