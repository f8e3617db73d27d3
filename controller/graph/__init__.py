"""The knowledge graph of a git tree.

facts (one blob) → link (one tree) → Graph; names, compare, excerpt and drift read graphs; `Knowledge` ties them to git.
"""

from controller.graph.knowledge import Knowledge

__all__ = ["Knowledge"]
