"""Profiles that people hold, read into the `model` of a spec: what they say, what they leave open, what is assumed.

Pure functions of text; nothing is unpickled, and nothing is run.
"""
