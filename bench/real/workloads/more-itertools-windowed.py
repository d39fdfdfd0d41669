import json, os, sys
sys.path.insert(0, os.getcwd())
from more_itertools import windowed

answer = 0
for _ in range(12):
    answer += sum(len(window) for window in windowed(range(100_000), 4))
print(json.dumps({"answer": answer}))
