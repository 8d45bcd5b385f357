from recframe.metrics import Metric
