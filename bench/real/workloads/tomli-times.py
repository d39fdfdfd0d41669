import json, os, sys, zlib
sys.path[:0] = [os.getcwd(), os.path.join(os.getcwd(), "src")]
import tomli

text = "\n".join(f"key{i} = 2021-05-{i % 28 + 1:02}T10:{i % 60:02}:00+0{i % 9}:00" for i in range(400))
for _ in range(90):
    answer = tomli.loads(text)
print(json.dumps({"answer": zlib.crc32(repr(answer).encode())}))
