import json, os, sys, zlib
sys.path.insert(0, os.path.join(os.getcwd(), "src"))
from packaging.version import Version

versions = [Version(f"{i % 3}.{i}rc{i % 4}.post{i % 5}.dev{i % 6}") for i in range(1000)]
for _ in range(160):
    answer = [str(version) for version in versions]
print(json.dumps({"answer": zlib.crc32(" ".join(answer).encode())}))
