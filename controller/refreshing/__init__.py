"""Refresh: graph and verification brought in line with the tree; a red wave traced to its culprit (docs/refresh.md).

`automatic` is what a run does by itself, `demand` what `grace refresh` does; both look through `look`.
"""
