import json, os, sys
sys.path.insert(0, os.path.join(os.getcwd(), "src"))
from cachetools.keys import typedkey

answer = 0
for i in range(120_000):
    answer += len(typedkey(i, "text", 1.5))
print(json.dumps({"answer": answer}))
