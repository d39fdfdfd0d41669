import json, os, sys
sys.path.insert(0, os.path.join(os.getcwd(), "src"))
from cachetools import RRCache

cache = RRCache(maxsize=100)
for i in range(60_000):
    cache[i] = i
print(json.dumps({"answer": len(cache)}))
