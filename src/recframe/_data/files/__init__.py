"""Files and dicts of information retrieval: runs and qrels in, frames out, and back."""
