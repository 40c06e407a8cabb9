"""The cloud: each device's log of segments, their folding into one memory, the picture beside them, restore, verify."""
