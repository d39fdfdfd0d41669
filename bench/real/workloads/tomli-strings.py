import json, os, sys, zlib
sys.path[:0] = [os.getcwd(), os.path.join(os.getcwd(), "src")]
import tomli

text = "\n".join(f'key{i} = "a basic string of an ordinary length, number {i}"' for i in range(400))
for _ in range(60):
    answer = tomli.loads(text)
print(json.dumps({"answer": zlib.crc32(repr(answer).encode())}))
