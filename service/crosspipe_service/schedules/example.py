"""The spec that the page of the API offers to try."""

EXAMPLE = """\
# The Zero Bubble paper's 1.5B profile (arXiv 2401.10241, Table 6, p = 8, m = 24) on two sites 15 ms apart.
# 32 GB a device: as much as 1F1B needs.
name: 1.5B on two sites, 32 GB
model:
  stages:
    count: 8
    forward_ms: 18.522
    backward_input_ms: 18.086
    backward_weight_ms: 9.337
    activation_mb: 3709
    retained_mb: 1359
    static_mb: 2250
    boundary_mb: 28.3
training: {microbatches: 24}
sites:
  east: {devices: 4, memory_gb: 32, hop_latency_ms: 0.601}     # the paper's time per hop inside a site
  west: {devices: 4, memory_gb: 32, hop_latency_ms: 0.601}
links:
  - {between: [east, west], bandwidth_gbps: 100, one_way_latency_ms: 15}
"""
