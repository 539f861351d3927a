"""Count states: what every device and lane may do by a target time, to a common fixpoint; bounds, splits and dives."""
