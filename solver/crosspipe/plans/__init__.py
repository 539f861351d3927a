"""Plans: what crosses sites, which sites are worth it, and where that changes; each way with a certified schedule."""
