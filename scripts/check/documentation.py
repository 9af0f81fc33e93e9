"""Measured tables in a page of documentation."""

import pathlib


def write(path, part, tables):
    """Writes tables between the marks of a part."""
    begin, end = (f"<!-- made by make bench-check{part}: {edge} -->" for edge in ("begin", "end"))
    text = pathlib.Path(path).read_text()
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    pathlib.Path(path).write_text(f"{before}{begin}\n{tables}\n{end}{after}")
