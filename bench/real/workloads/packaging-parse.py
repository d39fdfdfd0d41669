import json, os, sys, zlib
sys.path.insert(0, os.path.join(os.getcwd(), "src"))
from packaging.version import Version

texts = [f"{i % 7}.{i % 31}.{i}" for i in range(3000)]
answer = 0
for _ in range(45):
    answer += sum(Version(text).minor for text in texts)
print(json.dumps({"answer": answer}))
