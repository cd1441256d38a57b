from leaks import nothing_leaks_in_a_file  # noqa: F401 - replaces the fixture nothing_leaks
