"""Known schedules as orders, and the greedy."""
