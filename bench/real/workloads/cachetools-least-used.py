import json, os, sys
sys.path.insert(0, os.path.join(os.getcwd(), "src"))
from cachetools import LFUCache

answer = 0
cache = LFUCache(maxsize=500)
for i in range(60_000):
    key = i * 17 % 700
    answer += cache.get(key, 0)
    cache[key] = 1
print(json.dumps({"answer": answer}))
