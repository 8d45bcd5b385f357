"""Programs that use recframe as its users do; run from the checkout, such as ``python -m examples.demo``."""
