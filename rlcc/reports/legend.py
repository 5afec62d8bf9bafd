"""Headings of the verdict's columns and the meaning of each, for every form of the table."""

COLUMNS = {
    "group": "subject of the check",
    "check": "condition that must hold",
    "figure": "measured or proved value; network: the student's mean, then its difference from the teacher and the "
    "noise (difference of the teacher from itself if it decides 10 ns later)",
    "limit": "a number is a maximum, lower is better; ±, + and - limit the difference from the teacher, closer to 0 is "
    "better; other text: the figure must say this",
    "result": "ok: within the limit; FAIL: outside; *: a remark follows",
}
"""Meaning by heading."""
