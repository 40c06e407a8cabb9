"""The daemon: run loop, watcher, scheduler, socket, and its installation as a service."""
