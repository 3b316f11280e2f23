"""The fuzzer's parts: what is attacked, by subject; how files are spoiled; the record of it."""
