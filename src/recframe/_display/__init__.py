"""Show results to people: tables, charts, a report.

Tables and charts read frames of results, which may come from a file; the charts of a frame and the report make these
calls themselves. Three charts read the values of lists. Nothing here knows the plan, or computes a metric or a test.
"""
