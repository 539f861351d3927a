"""The version of CrossPipe."""

__version__ = "0.1.0"
