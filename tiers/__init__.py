"""Scores, tiers, hot state, MEMORY.md's managed block, the tree: what memory makes of its facts."""
