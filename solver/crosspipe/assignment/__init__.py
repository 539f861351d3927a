"""Assignment: which cut on which devices, bounded over all of them and searched best first."""
