"""Why a spec has no schedule, and what would help."""
