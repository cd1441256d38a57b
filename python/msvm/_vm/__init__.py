"""What ``msvm.vm`` is made of."""
