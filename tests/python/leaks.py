"""What tests ask to find tensors that nobody gave back."""

import gc


def tensors_in_use() -> int:
    """Bytes of tensors, garbage among them; compiled functions and eager operators may keep plans and scratch."""
    import msvm

    owners = msvm.memory_stats()["by_owner"]
    return owners["interpreter"] + owners["results"]


def leaked_since(before: int) -> int:
    """Bytes more than before, of tensors that aren't garbage."""
    if tensors_in_use() > before:  # collecting costs more than most tests do
        gc.collect()
    return max(0, tensors_in_use() - before)
