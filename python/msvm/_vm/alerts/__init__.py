"""Alerts: rules over what programs count, looked at once a second, and who is told.

Text becomes a ``rule`` by the ``grammar``, over ``metrics`` of ``samples``. The ``watcher`` steps each ``alert`` with its ``incident``. A
``notice`` with its ``evidence`` goes to the ``outbox``, which has a ``lane`` for each ``mail`` and ``webhook``. ``service`` holds what the
process has; ``files`` reads rules; ``secrets`` stay secret.
"""
