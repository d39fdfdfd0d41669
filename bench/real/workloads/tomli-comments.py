import json, os, sys, zlib
sys.path[:0] = [os.getcwd(), os.path.join(os.getcwd(), "src")]
import tomli

text = "\n".join(f"# {'a comment that is long ' * 4}{i}\nkey{i} = {i}" for i in range(600))
for _ in range(50):
    answer = tomli.loads(text)
print(json.dumps({"answer": zlib.crc32(repr(answer).encode())}))
