"""The CrossPipe service: HTTP around the library."""
