"""The CP-SAT model: the only room that imports ortools."""
