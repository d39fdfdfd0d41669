import json, os, sys, zlib
sys.path[:0] = [os.getcwd(), os.path.join(os.getcwd(), "src")]
import tomli

text = "\n".join(f"key{i} = [[{i}, 2], [3, 4], [], [[5], [6]], {{a = {i}}}]" for i in range(300))
for _ in range(25):
    answer = tomli.loads(text)
print(json.dumps({"answer": zlib.crc32(repr(answer).encode())}))
