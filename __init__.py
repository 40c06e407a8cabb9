"""memoryd: a local-first memory daemon for people and their AI agents.

The repository root is this package. Its rooms stand on floors, and imports only run downwards:

    cli                              floor 5   one thin client, generated from the operations
    daemon                           floor 4   watcher, scheduler, socket, service
    operations                       floor 3   every public operation, once
    ingest  tiers  search  sync      floor 2   do not import each other
    store                            floor 1   the embedded libSQL file
    model  errors  config  clock …   floor 0   plain types
"""

__version__ = "0.1.0"
