"""What tests ask to find tensors that nobody gave back."""


def tensors_in_use() -> int:
    """Bytes of tensors; compiled functions and eager operators may keep plans and scratch."""
    import gc

    import msvm

    gc.collect()
    owners = msvm.memory_stats()["by_owner"]
    return owners["interpreter"] + owners["results"]
