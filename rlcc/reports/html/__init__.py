"""The report that a person reads: one HTML file beside the verdict, drawn from the verdict and what the gate saw.

gather.py     verdict, sights -> Report                              the order of the page
surface.py    teacher, student and difference over two columns       the student as its integer forest
network.py    runs over time; the fixed point beside its theory
code.py       cycles by part; the emitted C with the cycles of its worst path
again.py      commands, seeds, hashes, versions
render.py     Report -> HTML                                         report.html.j2, report.css, *.js
"""
