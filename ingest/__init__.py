"""Note bytes → blocks → facts. Pure: no database, no clock, no network.

`parse.parse_note` is the way in; `names` says which files are notes, `reader` reads one without being
fooled, `mask` takes secrets out before anything else sees them.
"""
