"""Construct, bound, improve, certify: an answer within a time limit."""
