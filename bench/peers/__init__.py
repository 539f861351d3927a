"""Other ways to solve a compiled problem, for comparison: a MILP, a naive CP-SAT, and the static families."""
