"""Files and dicts of information retrieval: runs and qrels in, frames out, and back.

A file that breaks its format raises an error with the line. Parquet and CSV need no code of ours.
"""
