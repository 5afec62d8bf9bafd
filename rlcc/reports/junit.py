"""JUnit XML: one test case a check."""

from xml.etree import ElementTree

from rlcc.gate.verdict import Verdict
from rlcc.reports.markdown import printable


def junit(verdict: Verdict) -> str:
    """The document. A failure's text says where to look."""
    suite = ElementTree.Element(
        "testsuite",
        name=f"rlcc gate {verdict.policy}",
        tests=str(len(verdict.checks)),
        failures=str(len(verdict.failures())),
    )
    for check in verdict.checks:
        case = ElementTree.SubElement(suite, "testcase", classname=f"rlcc.{check.group}", name=printable(check.name))
        properties = ElementTree.SubElement(case, "properties")
        ElementTree.SubElement(properties, "property", name="id", value=printable(check.id))
        if not check.passed:
            text = printable(f"{check.value}, limit {check.limit}")
            failure = ElementTree.SubElement(case, "failure", message=text)
            failure.text = printable(check.detail) or text
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
