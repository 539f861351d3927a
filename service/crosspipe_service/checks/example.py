"""The check that the page of the API offers to try: two stages, one microbatch, by hand."""

EXAMPLE = """\
spec:
  model:
    stages: {count: 2, forward_ms: 10, backward_ms: 20, boundary_mb: 1}
  training: {microbatches: 1}
  sites:
    east: {devices: 1}
    west: {devices: 1}
  links:
    - {between: [east, west], one_way_latency_ms: 5}
schedule:
  operations:          # kind, stage, microbatch, replica, start_ms
    - [F, 0, 0, 0, 0]
    - [F, 1, 0, 0, 15]
    - [BW, 1, 0, 0, 25]
    - [BW, 0, 0, 0, 50]
"""
