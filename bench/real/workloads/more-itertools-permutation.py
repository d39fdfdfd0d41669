import json, os, sys
sys.path.insert(0, os.getcwd())
from more_itertools import nth_permutation

answer = 0
for index in range(40_000):
    answer = (answer * 31 + nth_permutation(range(24), 3, index % 12_000)[0]) % 2**32
print(json.dumps({"answer": answer}))
