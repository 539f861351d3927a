"""`make run`: the service started, an example solved, the answer shown."""
