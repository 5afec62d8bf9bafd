"""A verdict as CI systems take it: JUnit XML, SARIF, Markdown, GitHub annotations."""
