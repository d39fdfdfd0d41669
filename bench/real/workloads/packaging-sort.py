import json, os, sys, zlib
sys.path.insert(0, os.path.join(os.getcwd(), "src"))
from packaging.version import Version

texts = [f"{i % 7}.{i * 17 % 31}.{i * 31 % 1000}" for i in range(3000)]
for _ in range(12):
    answer = sorted(Version(text) for text in texts)
print(json.dumps({"answer": zlib.crc32(repr(answer).encode())}))
