"""Headings of the verdict's columns, and terms in its rows, with the meaning of each, for every form of the table."""

import re
from collections.abc import Iterable

from rlcc.gate.verdict import Check

COLUMNS = {
    "group": "subject of the check",
    "check": "condition that must hold",
    "figure": "measured or proved value; network: the student's mean over the seeds, then in brackets its difference "
    "from the teacher's, and the noise",
    "limit": "a number is a maximum, lower is better; ±x: at most x from the teacher either way, +x: at most x above, "
    "-x: at most x below it; words: what the check demands; not judged: the figure is reported only",
    "result": "ok: within the limit; FAIL: outside; *: a remark stands below the table",
}
"""Meaning by heading."""

TERMS = {
    "teacher": "the trained policy",
    "student": "the policy that was distilled from the teacher, and that the C computes",
    "test vector": "an event and a context, with the result that the program gives for them",
    "the core": "the engine profile's processor, simulated from its RTL; the brackets name profile and compiler",
    "program": "the student as a program over integers, the specification of the C",
    "parent": "the teacher, student and rollouts from which the firmware was made; checked if they are there",
    "manifest": "the firmware's list of its files, with hashes, and of what it was made from",
    "threshold": "a number with which the trees compare a feature; its sides are the number itself and the next larger",
    "forbidden": "float, division, system and indirect instructions, loops, recursion, calls of functions outside the "
    "firmware, writable static data",
    "code size": "limits of sizes are the engine profile's, or lower ones from the recipe or an option",
    "context size": "bytes that the device stores between the decisions of an agent, which is a flow or a queue of a "
    "switch",
    "safe": "no access or jump out of bounds, no loop, on any path",
    "certificate": "the file that states what is proved; in brackets the beginning of its hash, then its claims",
    "WCET": "worst-case execution time of a decision, call to return",
    "margin": "added to the slowest vector, whose time is measured and not proved",
    "trigger": "the part of the policy that decides at each call whether to choose again or to keep the last choice",
    "reference": "the firmware of an earlier verdict, given to the gate; the percentage is the change since then",
    "properties": "the rows of the group behaviour that the certificate proves",
    "inflation": "RTT / base RTT; the base RTT stands in brackets",
    "fixed point": "RTTs at which N equal flows keep their rate, in base RTTs (both terms of the formula); trees keep "
    "it over a range of RTTs; within 0.5 of it means ±50%; the figure is the worst N, its range, and the formula's "
    "RTT",
    "yield": "at this constant RTT each flow falls from the first rate to the second",
    "least": "the smallest number for which the property holds",
    "action error": "student minus teacher; an action is the factor by which a decision changes the rate, so 0.01 is "
    "1% of the rate; for other knobs the unit is the range of the knob; the figure is that of the worst network; the "
    "decisions of all networks are counted",
    "rollouts of": "decisions recorded for this check, under a seed of its own",
    "observation": "the policy's inputs; action map: from its output to the knob; limits: of the knob",
    "deviation": "distance of the student's action from the range of the teacher's actions in nearby states, in the "
    "unit of action error; 0 if it lies in that range",
    "of a feature": "nearby states: each feature, an integer that the trees compare, differs by at most this share, "
    "and each past action by at most the second number",
    "cells": "regions of states in which the student's action is constant; of each cell searched, the corners and one "
    "point inside were evaluated; if there are too many states, a sample of the cells is searched",
    "not demanded": "the recipe or an option asks for no proof here",
    "2^24": "bound of the features, the integers that the trees compare; the student acts on a larger one as on "
    "2^24 - 1",
    "in one state": "deviation of an example that the proof found; the figure before it bounds all states; the search "
    "of the row above may have found a worse state",
    "many-to-one:": "the number of flows to one receiver",
    "all-to-all:": "the number of hosts; each sends to the others",
    "long-short:": "the number of flows to one receiver: a long one, and short ones that come again and again",
    "incast:": "the number of hosts that send to one receiver at once, again and again",
    "hadoop:": "flows with the sizes of Hadoop traffic; the number is the load of the links",
    "websearch:": "flows with the sizes of web search traffic; the number is the load of the links",
    "datamining:": "flows with the sizes of data mining traffic; the number is the load of the links",
    "idle": "no new flow arrives in these parts of the run, so that the others end",
    "leaf-spine:": "a fabric of leaves x hosts per leaf x spines; rates of hosts / spines in Gb/s may follow",
    "fat-tree:": "a fabric of three levels; the number of ports of its switches",
    "planes:": "a fabric of NICs per machine x machines, each NIC on a switch of its own; its rate in Gb/s follows",
    "goodput": "payload delivered, as a fraction of the line rate",
    "mean latency": "of data packets, from the start of sending at the NIC to full arrival",
    "queue us": "mean time that a packet waits in the switches",
    "FCT": "flow completion time, of the flows that ended",
    "Jain fairness": "1 if all flows get the same; flows of different sizes cannot, and only the difference counts",
    "loss": "fraction of the packets that are dropped",
    "noise": "standard error, over the seeds, of the teacher's own change if each decision comes 10 ns later; if twice "
    "the noise exceeds the limit, it becomes the limit; if it exceeds five times the limit, the check fails",
    "itself": "mean of the teacher's own change with that delay: it exceeds the tolerance",
}
"""Meaning by a term as it stands in a row."""


def terms(checks: Iterable[Check]) -> dict[str, str]:
    """Returns the meanings of the terms that stand in a name, figure or limit of the checks, in the table's order."""
    text = "\n".join(part for check in checks for part in (check.name, check.value, check.limit))
    found = (term for term in TERMS if re.search(rf"(?<!at ){re.escape(term)}", text))
    return {term.rstrip(":"): TERMS[term] for term in found}
