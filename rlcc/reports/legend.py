"""Headings of the verdict's columns, and terms in its rows, with the meaning of each, for every form of the table."""

import re
from collections.abc import Iterable

from rlcc.gate.verdict import Check

COLUMNS = {
    "group": "The subject of the check.",
    "check": "The condition that must hold.",
    "figure": "The value that was proved or measured. In the group network it is the student's mean over the seeds. "
    "The brackets hold its difference from the teacher's mean, and the noise of this difference.",
    "limit": "A number is the largest value that is allowed. In the group network the limit is for the difference from "
    "the teacher. ±x: at most x more or less. +x: at most x more. -x: at most x less. Words say what the check "
    "demands. Not judged: the figure is only reported.",
    "result": "ok: the figure is within the limit. FAIL: it is not. A * means that a remark stands below the table. "
    "The last line says PASS if every row is ok.",
}
"""Meaning by heading."""

TERMS = {
    "teacher": "The policy that was trained.",
    "student": "The smaller policy that was made to decide like the teacher. The C computes the student.",
    "every file": "rlcc writes the C again from the student. The files of the firmware (the C and what lies with it) "
    "must have the same bytes.",
    "test vector": "An input of the C (an event and a context), with the correct result.",
    "the core": "The simulated processor that runs the C. The brackets name its engine profile and the compiler.",
    "engine profile": "The description of a device's processor: core, clock, memory, limits of sizes.",
    "program": "The student, written as operations on integers. It says what the C must compute.",
    "recipe": "The file that names the teacher, the simulated networks and the limits. Options of the command can say "
    "the same.",
    "parent": "The teacher, the student and the rollouts from which the firmware was made. An absent one is not "
    "checked.",
    "manifest": "The file of the firmware that lists its files and its parents, with their hashes.",
    "threshold": "A number t with which the trees compare a feature. Its two sides are t and t + 1.",
    "forbidden": "Floating point, division, system instructions, indirect jumps, recursion, calls out of the firmware, "
    "static data that can be written. Loops too, unless the C computes a neural network instead of trees.",
    "code size": "The limits of sizes are those of the engine profile, or lower ones that you set.",
    "context size": "Bytes that the device stores for an agent between two decisions. An agent is a flow, or a queue "
    "of a switch.",
    "certificate": "The file with the proof. The brackets hold the beginning of its hash. After them stands what is "
    "proved, besides the WCET. Equal: for every input, the machine code computes what the program says.",
    "independent checker": "A second program. It confirms each statement of the certificate without the search that "
    "made it.",
    "safe": "On no path does the machine code read, write or jump out of bounds, or loop without end.",
    "properties": "The rows of the group behaviour. The certificate proves them too.",
    "WCET": "Worst-case execution time of one decision, from call to return.",
    "margin": "A percentage that is added to the slowest measured time, because this time is not proved.",
    "trigger": "The part of the policy that decides whether to choose again or to keep the last choice.",
    "reference": "The earlier firmware with which this one is compared. The percentage is the change since then.",
    "inflation": "RTT divided by base RTT. The base RTT stands in brackets.",
    "fixed point": "The RTT at which N equal flows keep their rates. The row has RL-CC's formula for it, in base RTTs; "
    "0.5 allows ±50%. Trees keep the rates over a range of RTTs. The figure names the worst N, its range, and the RTT "
    "of the formula.",
    "yield": "While the RTT stays at this inflation, a flow must fall from the first rate to the second.",
    "least": "The smallest number with which the property holds.",
    "action error": "The difference between the student's and the teacher's action in the same state, without its "
    "sign. An action is the factor by which a decision changes the rate: 0.01 is 1% of the rate. For other knobs, 0.01 "
    "is 1% of the knob's range. The error is computed for each simulated network. The figure is the largest of these "
    "errors.",
    "decisions in all": "The number of compared decisions, of all simulated networks together.",
    "rollouts of": "Other rollouts than those of the parents: decisions of the teacher, simulated for this check "
    "alone. The seed differs from that of the training.",
    "observation": "The inputs of the policy. The action map turns its output into a knob, for example a rate. The "
    "limits are those of the knob.",
    "deviation": "The distance of the student's action from the range of the teacher's actions in nearby states, in "
    "the unit of the action error. It is 0 if the action lies in this range. A state is the policy's inputs.",
    "nearby": "A nearby state differs in each past action by at most this number, and in each other feature by at most "
    "this percentage.",
    "feature": "An input that the trees compare, as an integer. Some features are past actions.",
    "trees": "The form of the student: decision trees that compare features with thresholds. Their results are added "
    "up.",
    "deviation found": "The largest one that a search found. A state that was not searched may deviate more. The range "
    "of the teacher's actions is searched too: if a part of it is missed, the deviation becomes larger, never smaller.",
    "cells": "A cell is a region of states in which the student's action is constant. The search evaluates the corners "
    "and one inner point of each cell. If this gives too many states, it leaves cells out, chosen at random.",
    "upper bound": "If there is a proof, the row has two figures. The largest deviation over all states is at most the "
    "first, and at least the second.",
    "no proof": "There is no upper bound; a remark below the table says why.",
    "not demanded": "Neither the recipe nor an option asks for a proof here. The row passes without one.",
    "2^24": "A proof here covers all features below this number, in the integers that the trees compare.",
    "many-to-one:": "Number of flows to one receiver.",
    "all-to-all:": "Number of hosts. Each one sends to all others.",
    "long-short:": "Number of flows to one receiver: one is long, the others are short and come again and again.",
    "incast:": "Number of hosts that send to one receiver at once, again and again.",
    "hadoop:": "Flows with the sizes of Hadoop traffic. The number is the load of the links.",
    "websearch:": "Flows with the sizes of web search traffic. The number is the load of the links.",
    "datamining:": "Flows with the sizes of data mining traffic. The number is the load of the links.",
    "idle": "In these parts of the run no new flow arrives, so that the others end.",
    "leaf-spine:": "A fabric: leaves x hosts per leaf x spines. The rates of hosts / spines in Gb/s may follow.",
    "fat-tree:": "A fabric of three levels. The number is that of the ports of a switch.",
    "planes:": "A fabric: NICs per machine x machines. Each NIC of a machine has a switch of its own. The rate in Gb/s "
    "follows.",
    "goodput": "Payload delivered, as a fraction of the line rate.",
    "mean latency": "Mean time of a data packet from the start of sending at the NIC to full arrival.",
    "queue us": "Mean time that a packet waits in the switches, in us.",
    "FCT": "Flow completion time, of the flows that ended.",
    "Jain fairness": "1 if all flows get the same. Flows of different sizes cannot reach 1, so only the difference "
    "counts.",
    "loss": "Fraction of the packets that are dropped.",
    "tolerance": "The difference from the teacher that the recipe allows.",
    "noise": "How much chance can change the difference. The teacher is simulated again with each decision 10 ns "
    "later. This delay is too small to matter alone: it changes the random course of the run. The noise is the "
    "root mean square of the changes that this makes with each seed, divided by the square root of the number of "
    "seeds. The limit is the tolerance, or twice the noise if that is more. If twice the noise is more than five times "
    "the tolerance, the check fails.",
    "itself": "The mean of the teacher's own change with this delay. It exceeds the tolerance.",
}
"""Meaning by a term as it stands in a row."""


def terms(checks: Iterable[Check]) -> dict[str, str]:
    """Returns the meanings of the terms that stand in a name, figure or limit of the checks, or in the meaning of such
    a term, in the table's order."""
    unread = ["\n".join(part for check in checks for part in (check.name, check.value, check.limit))]
    found: set[str] = set()
    while unread:
        text = unread.pop()
        new = {term for term in TERMS if re.search(rf"(?<!at )(?<!\w){re.escape(term)}", text)} - found
        found |= new
        unread += [TERMS[term] for term in new]
    return {term.rstrip(":"): TERMS[term] for term in TERMS if term in found}
