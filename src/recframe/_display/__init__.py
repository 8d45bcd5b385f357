"""Results for people: tables, charts, a report. Reads results of the calls, never the plan."""
