"""Benchmarks: what CrossPipe reaches on known instances, how fast, and beside other solvers on the same machine.

`python -m bench --help` tells how to run them; `bench/README.md` what the columns mean.
"""
