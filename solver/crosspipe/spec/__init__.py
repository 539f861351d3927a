"""What people write: the cluster spec, its parsing, validation and digest."""
