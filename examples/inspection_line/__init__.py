"""An inspection line: a camera that switches its resolution, and a detector that keeps up. Started by `./demo --line`."""
