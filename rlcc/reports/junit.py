"""JUnit XML: one test case per check, a skipped one per group that was not judged."""

from xml.etree import ElementTree

from rlcc.gate.names import NAMES
from rlcc.gate.verdict import QUICK, Verdict
from rlcc.reports.markdown import printable


def junit(verdict: Verdict) -> str:
    """The document. A failure's text says where to look."""
    suite = ElementTree.Element(
        "testsuite",
        name=f"rlcc gate {verdict.policy}",
        tests=str(len(verdict.checks) + len(verdict.not_judged)),
        failures=str(len(verdict.failures())),
        skipped=str(len(verdict.not_judged)),
    )
    for check in verdict.checks:
        case = ElementTree.SubElement(suite, "testcase", classname=f"rlcc.{check.group}", name=printable(check.name))
        properties = ElementTree.SubElement(case, "properties")
        ElementTree.SubElement(properties, "property", name="id", value=printable(check.id))
        if not check.passed:
            text = printable(f"{check.value}, limit {check.limit}")
            failure = ElementTree.SubElement(case, "failure", message=text)
            failure.text = printable(check.detail) or text
    for group, reason in verdict.left_out.items():
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"rlcc.{group}", name=NAMES["*.all"].format(group=group)
        )
        ElementTree.SubElement(case, "skipped", message=printable("skipped by --quick" if reason == QUICK else reason))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
