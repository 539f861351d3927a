"""CrossPipe: certified pipeline-parallel schedules for training across datacenters."""

__version__ = "0.1.0"
