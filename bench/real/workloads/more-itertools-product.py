import json, os, sys
sys.path.insert(0, os.getcwd())
from more_itertools import nth_product

answer = 0
for index in range(40_000):
    answer = (answer * 31 + sum(nth_product(index, range(30), range(40), range(50)))) % 2**32
print(json.dumps({"answer": answer}))
