"""Results for people: tables, charts, a report. Tables and `forest` read results; the other charts make plans."""
