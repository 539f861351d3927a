"""Certificates: lower bounds as plain data, and their verification by code that the solver has no part in."""
