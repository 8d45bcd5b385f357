"""Show results to people: tables, charts, a report.

Tables and forest plots read frames of results; the other charts and the report make their own calls. Nothing
here computes a metric or a test.
"""
