"""Numbers that are legal but look like a known mistake: bits for bytes, a round trip for one way, GiB for GB."""
