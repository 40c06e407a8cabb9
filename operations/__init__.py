"""Every public operation once: typed request → typed reply."""
