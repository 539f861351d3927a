"""From an architecture, a profile or layers to stage times and memory; the expansion to the stages form."""
