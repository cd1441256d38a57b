"""The real models of the demo, tests and benchmarks: where they come from, how they are fed, who runs them."""
