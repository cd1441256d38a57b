"""From Python functions to bytecode. ``compile`` reads source; ``values`` is what stands for tensors and sizes meanwhile."""
