import json, os, sys, zlib
sys.path.insert(0, os.path.join(os.getcwd(), "src"))
from packaging.requirements import Requirement

texts = [f'name-{i}[extra,more] >=1.{i}, <2; python_version >= "3.8"' for i in range(1000)]
for _ in range(4):
    answer = [str(Requirement(text)) for text in texts]
print(json.dumps({"answer": zlib.crc32(" ".join(answer).encode())}))
