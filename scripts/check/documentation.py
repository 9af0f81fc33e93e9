"""Measured tables in a page of documentation."""

import pathlib


def write(path, part, tables):
    """Writes tables between the marks of a part."""
    before, _, after = split(path, part)
    pathlib.Path(path).write_text(f"{before}\n{tables}\n{after}")


def read(path, part):
    """Returns the tables between the marks of a part."""
    return split(path, part)[1].strip()


def split(path, part):
    """Returns the text up to the tables of a part, these, and the text from their end."""
    begin, end = (f"<!-- made by make bench-check{part}: {edge} -->" for edge in ("begin", "end"))
    before, rest = pathlib.Path(path).read_text().split(begin)
    tables, after = rest.split(end)
    return before + begin, tables, end + after
